#!/bin/sh
# Verifies every signature in a SAF-T (PT) with sh, awk and openssl, and nothing of Certo's.
#
#   sh verify-saft.sh FILE KEY [KEY of version 2 ...]
#
# A signature (Hash: RSA with SHA-1) covers a document's date, time of entry, number and total, and the signature before
# it in the series (Portaria 363/2010, art. 6 and 7): none can be changed, left out or put between without the key.
# Ends with 0 when what can be verified holds, and is not nothing; with 1 when not.

if [ $# -lt 2 ] || [ ! -r "$1" ] || [ ! -r "$2" ]; then
  echo 'usage: sh verify-saft.sh FILE KEY [KEY of version 2 ...]' >&2
  exit 2
fi
saft=$1
shift
signature=$(mktemp)
trap 'rm -f "$signature"' EXIT

# Each signed document on a line: how it stands to the one before, its number, the key's version, Hash, what was signed.
LC_ALL=C awk '
  BEGIN { RS = "<"; FS = ">"; OFS = "\t" }
  { end = sub(/^\//, "", $1); sub(/^[A-Za-z0-9_]+:/, "", $1) }
  end && ($1 == "Invoice" || $1 == "StockMovement" || $1 == "WorkDocument") { tell() }
  end { next }
  $1 == "InvoiceNo" || $1 == "DocumentNumber" { number = $2; hash = control = "" }
  $1 == "InvoiceDate" || $1 == "MovementDate" || $1 == "WorkDate" { date = $2 }
  $1 == "SystemEntryDate" { entry = $2 }
  $1 == "GrossTotal" { total = sprintf("%.2f", $2) }
  $1 == "Hash" { hash = $2 }
  $1 == "HashControl" { control = $2 }

  function tell(    slash, series, sequence, known, place) {
    slash = index(number, "/")
    series = substr(number, 1, slash - 1)
    sequence = substr(number, slash + 1) + 0
    known = series in last
    place = sequence == (known ? last[series] + 1 : 1) ? "next" : known ? "gap" : "first"
    print place, number, sprintf("%d", control), hash,
      date ";" entry ";" number ";" total ";" (sequence == 1 ? "" : before[series])
    last[series] = sequence
    before[series] = hash
  }
' "$saft" | {
  tab=$(printf '\t')
  verified=0 wrong=0 open=0
  while IFS=$tab read -r place number version hash text; do
    if [ "$place" = first ]; then
      echo "$number: not verified, the document before it is not in the file"
      open=$((open + 1))
    elif [ "$place" = gap ]; then
      echo "$number: OUT OF SEQUENCE, A NUMBER IS MISSING OR REPEATED"
      wrong=$((wrong + 1))
    elif [ "$version" -lt 1 ] || [ "$version" -gt $# ]; then
      echo "$number: not verified, signed with key $version, which was not given"
      open=$((open + 1))
    else
      key=$(shift $((version - 1)); printf %s "$1")
      printf %s "$hash" | openssl base64 -d -A > "$signature"
      if printf %s "$text" | openssl dgst -sha1 -verify "$key" -signature "$signature" > /dev/null 2>&1; then
        verified=$((verified + 1))
      else
        echo "$number: THE SIGNATURE DOES NOT HOLD"
        wrong=$((wrong + 1))
      fi
    fi
  done
  echo "$verified verified, $wrong wrong, $open not verified"
  [ "$wrong" -eq 0 ] && [ "$verified" -gt 0 ]
}
