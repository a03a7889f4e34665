/** The script of the reference page: starts the viewer. It runs in the browser; it is text here because tsc builds for Node. */
export const referenceScript = `'use strict';
// Requests go to the address this page came from, whatever name the service gives itself: the policy allows no other.
const here = () => ({
  statePlugins: {
    spec: {
      wrapActions: {
        updateJsonSpec: (next) => (spec) =>
          next({ ...spec, servers: [{ url: location.origin }], info: { ...spec.info, license: undefined } }),
      },
    },
  },
});

SwaggerUIBundle({
  url: '/-json',
  dom_id: '#reference',
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [here],
  deepLinking: true,
  docExpansion: 'list',
  defaultModelExpandDepth: 2,
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  syntaxHighlight: false,
  validatorUrl: null,
});
`;
