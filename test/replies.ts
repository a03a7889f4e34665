/** Replies of the API as tests read them. Their schemas are judged by `conforms` (test/conforms.ts), not by these types. */

export interface CompanyJson {
  readonly id: string;
  readonly name: string;
  readonly taxpayerNumber: string;
  readonly cae: string;
  readonly readiness: {
    readonly ready: boolean;
    readonly reasons: readonly { readonly code: string; readonly actionUrl: string }[];
    readonly actionUrl?: string;
  };
}

export interface SeriesJson {
  readonly id: string;
  readonly name: string;
  readonly documentType: string;
  readonly status: string;
  readonly validationCode: string;
  readonly isDefault: boolean;
  readonly lastNumber: number;
  readonly lastDate?: string;
}

export interface CustomerJson {
  readonly id: string;
  readonly name: string;
  readonly country: string;
  readonly taxpayerNumber?: string;
  readonly city?: string;
  readonly email?: string;
  readonly system: boolean;
  readonly isArchived: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface ItemJson {
  readonly id: string;
  readonly name: string;
  readonly unitPrice: number;
  readonly taxRate: number;
  readonly vatRate: string;
  readonly vatExemptionReason?: string;
  readonly vatTerritory: string;
  readonly unitType: string;
  readonly isAutoVATEnabled: boolean;
  readonly isArchived: boolean;
  readonly withholdingTaxPercent?: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

interface ListedInvoice {
  readonly id: string;
  readonly number?: string;
  readonly documentType: string;
  readonly status: string;
  readonly date?: string;
  readonly taxPointDate: string | null;
  readonly dueDate?: string;
  readonly currency: string;
  readonly parentInvoiceId: string | null;
  readonly parentInvoiceNumber: string | null;
  readonly parentInvoiceDate: string | null;
  readonly parentInvoiceType: string | null;
  readonly summary: {
    readonly amountWithoutTax: number;
    readonly amountWithTax: number;
    readonly taxAmount: number;
    readonly total: number;
  };
  readonly customer: {
    readonly ref: string;
    readonly data: { readonly name: string; readonly taxpayerNumber?: string; readonly email?: string };
  };
}

export interface InvoiceEntryJson extends ListedInvoice {
  readonly scheduleTemplateId: string | null;
}

export interface InvoiceJson extends ListedInvoice {
  readonly atcud?: string;
  readonly shortHash?: string;
  readonly signature?: { readonly text: string; readonly value: string; readonly keyVersion: number };
  readonly updatedAt: string;
  readonly createdAt: string;
  readonly issuedAt?: string;
  readonly description?: string;
  readonly notes?: string;
  readonly reason?: string;
  readonly cae: string;
  readonly exchangeRate?: number;
  readonly syncWithAt: { readonly status: string; readonly atCode?: string; readonly atMessage?: string };
  readonly series?: { readonly ref: string; readonly name: string };
  readonly customer: {
    readonly ref: string;
    readonly data: {
      readonly name: string;
      readonly taxpayerNumber?: string;
      readonly email?: string;
      readonly city?: string;
      readonly country?: string;
    };
  };
  readonly summary: ListedInvoice['summary'] & {
    readonly amountWithoutTaxWithoutDiscount: number;
    readonly globalDiscountType?: string;
    readonly globalDiscountPercent: number;
    readonly globalDiscountAmount: number;
    readonly totalToPay: number;
    readonly withholdingTaxAmount: number;
    readonly creditNotesTotal: number;
  };
  readonly items: readonly {
    readonly id: string;
    readonly ref: string;
    readonly meta: Readonly<Record<string, number | boolean>>;
    readonly data: Readonly<Record<string, string | number | undefined>>;
  }[];
  readonly payment?: { readonly method?: string; readonly date?: string };
  readonly qrCode?: { readonly url: string; readonly data: string; readonly imageData: string };
  readonly issuer: { readonly ref: string; readonly data: { readonly name: string; readonly taxPayerNumber: string } };
}

export interface PlaceJson {
  readonly address: string;
  readonly postalCode: string;
  readonly city: string;
  readonly country: string;
}

export interface TransportEntryJson {
  readonly id: string;
  readonly number?: string;
  readonly atcud?: string;
  readonly atDocCode?: string;
  readonly movementType: string;
  readonly issueStatus: string;
  readonly date?: string;
  readonly movementDate: string;
  readonly movementEndDate?: string;
  readonly loading: PlaceJson;
  readonly unloading: PlaceJson;
  readonly licensePlate?: string;
  readonly comments?: string;
  readonly valued: boolean;
  readonly updatedAt: string;
  readonly syncWithAt: InvoiceJson['syncWithAt'];
  readonly summary: ListedInvoice['summary'];
  readonly customer: ListedInvoice['customer'];
}

export interface TransportJson extends TransportEntryJson {
  readonly shortHash?: string;
  readonly signature?: { readonly text: string; readonly value: string; readonly keyVersion: number };
  readonly cae: string;
  readonly createdAt: string;
  readonly issuedAt?: string;
  readonly series?: InvoiceJson['series'];
  readonly summary: InvoiceJson['summary'];
  readonly items: InvoiceJson['items'];
  readonly qrCode?: InvoiceJson['qrCode'];
}

export interface ProposalEntryJson {
  readonly id: string;
  readonly number: string;
  readonly atcud: string;
  readonly status: string;
  readonly date: string;
  readonly dueDate: string;
  readonly currency: string;
  readonly updatedAt: string;
  readonly summary: ListedInvoice['summary'];
  readonly customer: ListedInvoice['customer'];
}

export interface ProposalJson extends ProposalEntryJson {
  readonly description?: string;
  readonly notes?: string;
  readonly syncWithAt: InvoiceJson['syncWithAt'];
  readonly summary: InvoiceJson['summary'];
  readonly items: InvoiceJson['items'];
  readonly qrCode?: InvoiceJson['qrCode'];
  readonly relatedDocuments: readonly {
    readonly id: string;
    readonly number?: string;
    readonly documentType: string;
    readonly status: string;
    readonly date?: string;
    readonly total: number;
  }[];
}
