# What the peers of Axis2 have in common, whatever binds their data; read in by them.
#
#     deploy BINDING SUITE NAMESPACE CLASS    our class answers in the place of the generated one; the service is called as its path
#     serve_repository PORT                   becomes the server of what was deployed
. "$(dirname "$0")/../java.sh"

deploy() {
    tool org.apache.axis2.wsdl.WSDL2Java --server-side --service-description --databinding-method "$1" --package "peer.$2" \
        --namespace2package "$3=peer.$2" --output "target/generated/$2" --uri "$contracts/$2.wsdl"
    service=target/repository/services/$2/META-INF
    mkdir -p "$service"
    sed -e "s|<service name=\"[^\"]*\"|<service name=\"$2\"|" \
        -e "s|\(<parameter name=\"ServiceClass\">\)[^<]*|\1$4|" "target/generated/$2/resources/services.xml" >"$service/services.xml"
    # By the contract it knows operations whose message isn't called as they are.
    sed "s|<wsdl:service name=\"[^\"]*\"|<wsdl:service name=\"$2\"|" target/generated/"$2"/resources/*.wsdl >"$service/$2.wsdl"
}

serve_repository() {
    serve -Dpeer.prefix=/services peer.ServletServer "$1" org.apache.axis2.transport.http.AxisServlet target/repository \
        "axis2.repository.path=$PWD/target/repository"
}
