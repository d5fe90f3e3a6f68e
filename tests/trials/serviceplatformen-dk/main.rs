use castile::http::server::{Routes, Server, shutdown_signal};
use castile::{CallError, Detail, Fault, Request, Response};

mod person_base_data_extended_service;
use person_base_data_extended_service::*;

struct Register;

impl PersonBaseDataExtendedPortType for Register {
    async fn person_lookup(
        &self,
        request: Request<PersonLookupRequestType>,
    ) -> Result<Response<PersonLookupResponseType>, Fault<PersonLookupFault>> {
        let request = request.into_inner();
        if request.pnr.len() != 10 {
            let error = serviceplatform_fault::ErrorType {
                error_code: "PNR".into(),
                error_text: "ten digits were expected".into(),
            };
            let list = serviceplatform_fault::ErrorListType { error: vec![error] };
            let detail = serviceplatform_fault::ServiceplatformFaultType { error_list: Some(list) };
            return Err(Fault::sender("no such person").with_detail(PersonLookupFault::ServiceplatformFault(detail)));
        }
        let persondata = PersondataType { personnummer: Some(request.pnr), ..Default::default() };
        Ok(PersonLookupResponseType { persondata: Some(persondata.into()), ..Default::default() }.into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let client = PersonBaseDataExtendedPortTypeClient::new(&format!("http://{}/person", listener.local_addr()?))?;
    let routes = Routes::new().route("/person", PersonBaseDataExtendedPortTypeServer::new(Register));
    tokio::spawn(Server::new().serve(listener, routes, shutdown_signal()));
    let request = PersonLookupRequestType { pnr: "0101010101".into(), ..Default::default() };
    println!("{:?}", client.person_lookup(&request).await?.persondata.and_then(|person| person.personnummer));
    match client.person_lookup(&PersonLookupRequestType { pnr: "1".into(), ..request }).await {
        Err(CallError::Fault { fault: Fault { reason, detail: Detail::Declared(detail), .. }, .. }) => {
            println!("{reason}: {detail:?}");
        }
        other => println!("{other:?}"),
    }
    Ok(())
}
