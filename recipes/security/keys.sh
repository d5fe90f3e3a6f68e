#!/bin/sh
# Makes what docs/security.md needs in the current folder: keys and certificates, an assertion that is valid for a day, and the password
# of a user. It needs OpenSSL.
set -eu

# An authority, and an invoice key whose certificate it has issued.
openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 365 -subj "/O=Example/CN=Authority" \
    -addext keyUsage=critical,keyCertSign,cRLSign
openssl req -newkey rsa:2048 -nodes -keyout key.pem -out request.pem -subj "/O=Example/CN=Invoices"
printf 'keyUsage=critical,digitalSignature\nbasicConstraints=critical,CA:FALSE\n' >extensions.txt
openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -out cert.pem -days 365 -set_serial 17 -extfile extensions.txt

# An office, to which the authority leaves a part of its work, and a branch whose certificate the office has issued.
openssl req -newkey rsa:2048 -nodes -keyout office.key -out request.pem -subj "/O=Example/CN=Office"
printf 'keyUsage=critical,keyCertSign,cRLSign\nbasicConstraints=critical,CA:TRUE\n' >authority.txt
openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -out office.pem -days 365 -set_serial 18 -extfile authority.txt
openssl req -newkey rsa:2048 -nodes -keyout branch.key -out request.pem -subj "/O=Example/CN=Branch"
openssl x509 -req -in request.pem -CA office.pem -CAkey office.key -out branch.pem -days 365 -set_serial 1 -extfile extensions.txt
cat branch.pem office.pem >chain.pem
rm request.pem extensions.txt authority.txt

# Lists of the certificates that the authority has revoked: none, and that of the invoice key.
cat >openssl.txt <<'END'
[ca]
default_ca = list
[list]
database = index.txt
default_md = sha256
default_crl_days = 30
crlnumber = number.txt
crl_extensions = extensions
[extensions]
authorityKeyIdentifier = keyid
END
: >index.txt
echo 01 >number.txt
openssl ca -config openssl.txt -cert ca.pem -keyfile ca.key -gencrl -out list.pem
openssl ca -config openssl.txt -cert ca.pem -keyfile ca.key -revoke cert.pem
openssl ca -config openssl.txt -cert ca.pem -keyfile ca.key -gencrl -out revoked.pem
rm openssl.txt index.txt* number.txt*

# Those who are known by their certificates: we, the bank, a token service, and Ann.
for name in own bank sts ann; do
    openssl req -x509 -newkey rsa:2048 -nodes -keyout "$name.key" -out "$name.pem" -days 365 -subj "/O=Example/CN=$name" \
        -addext keyUsage=critical,digitalSignature
done

# What a token service would do: it writes that Ann has this key, until tomorrow.
begin=$(date -u +%Y-%m-%dT%H:%M:%SZ)
end=$(date -u +%Y-%m-%dT%H:%M:%SZ -d "+1 day" 2>/dev/null || date -u -v+1d +%Y-%m-%dT%H:%M:%SZ)
certificate=$(openssl x509 -in ann.pem -outform DER | openssl base64 -A)
sed -e "s|BEGIN|$begin|" -e "s|END|$end|" -e "s|CERTIFICATE|$certificate|" assertion.xml >assertion-of-ann.xml

# The user of the camera.
printf 'viewer:secret\n' >users
printf 'secret\n' >password
