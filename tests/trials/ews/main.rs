use castile::http::server::{Routes, Server, shutdown_signal};
use castile::{CallError, Fault, Request, Response};

mod exchange;
use exchange::*;

struct Mailbox;

impl ExchangeServicePortType for Mailbox {
    async fn get_folder(&self, request: Request<GetFolderType>) -> Result<Response<GetFolderResponseType>, Fault> {
        println!("asked as {:?}", request.header::<types::RequestServerVersion>()?);
        let choice = request.into_inner().folder_ids.choice.into_iter().map(|id| {
            use types::NonEmptyArrayOfBaseFolderIdsTypeChoice::{DistinguishedFolderId, FolderId};
            let name = match id {
                FolderId(id) => id.id,
                DistinguishedFolderId(id) => id.id.to_string(),
            };
            let folder = types::FolderType { display_name: Some(name), total_count: Some(3), ..Default::default() };
            let message = FolderInfoResponseMessageType {
                response_class: types::ResponseClassType::Success,
                message_text: None,
                response_code: Some(ResponseCodeType::NoError),
                descriptive_link_key: None,
                message_xml: None,
                folders: Some(types::ArrayOfFoldersType {
                    choice: vec![types::ArrayOfFoldersTypeChoice::Folder(folder.into())],
                }),
            };
            ArrayOfResponseMessagesTypeChoice::GetFolderResponseMessage(message.into()).into()
        });
        let response_messages = ArrayOfResponseMessagesType { choice: choice.collect() };
        Ok(GetFolderResponseType { response_messages }.into())
    }

    async fn resolve_names(&self, _: Request<ResolveNamesType>) -> Result<Response<ResolveNamesResponseType>, Fault> {
        Err(Fault::receiver("nobody is known here"))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let client = ExchangeServicePortTypeClient::new(&format!("http://{}/EWS/Exchange.asmx", listener.local_addr()?))?;
    let routes = Routes::new().route("/EWS/Exchange.asmx", ExchangeServicePortTypeServer::new(Mailbox));
    tokio::spawn(Server::new().serve(listener, routes, shutdown_signal()));

    let inbox = types::DistinguishedFolderIdType {
        id: types::DistinguishedFolderIdNameType::Inbox,
        change_key: None,
        mailbox: None,
    };
    let request = GetFolderType {
        folder_shape: types::FolderResponseShapeType {
            base_shape: types::DefaultShapeNamesType::Default,
            additional_properties: None,
        },
        folder_ids: types::NonEmptyArrayOfBaseFolderIdsType {
            choice: vec![types::NonEmptyArrayOfBaseFolderIdsTypeChoice::DistinguishedFolderId(inbox)],
        },
    };
    let version = types::RequestServerVersion {
        version: types::ExchangeVersionType::Exchange2016,
        any_attributes: Vec::new(),
    };
    let response = client.get_folder(&request).header(&version).await?;
    println!("{:?}", response.response_messages.choice);
    let names = ResolveNamesType {
        return_full_contact_data: false,
        search_scope: types::ResolveNamesSearchScopeType::ActiveDirectory,
        contact_data_shape: None,
        parent_folder_ids: None,
        unresolved_entry: "Ada".into(),
    };
    match client.resolve_names(&names).await {
        Err(CallError::Fault { fault, .. }) => println!("{fault}"),
        other => println!("{other:?}"),
    }
    Ok(())
}
