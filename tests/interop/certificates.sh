# Certificates made by OpenSSL, so that Castile doesn't judge its own. Source this file.

# authority NAME
authority() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1" \
        -keyout "$1.key" -out "$1.pem" 2>/dev/null
}

# issue AUTHORITY NAME FILE [ALTERNATIVE_NAMES]
issue() {
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$2" -keyout "$3.key" -out "$3.csr" 2>/dev/null
    openssl x509 -req -in "$3.csr" -CA "$1.pem" -CAkey "$1.key" -CAcreateserial -days 2 -out "$3.pem" \
        -extfile <(echo "subjectAltName=DNS:$2${4:+,$4}") 2>/dev/null
}
