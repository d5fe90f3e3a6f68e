//! Uses one operation of a large contract. `build.rs` selects it: trait, client and types contain only that
//! operation.

use castile::{Fault, Request, Response};

mod directory {
    castile::include_contract!("directory");
}
use directory::*;

struct Phonebook;

impl Directory for Phonebook {
    async fn find(&self, request: Request<Find>) -> Result<Response<FindResponse>, Fault> {
        let person = Person { name: request.into_inner().name, phone: vec!["555-0100".into()] };
        Ok(FindResponse { person: vec![person] }.into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = DirectoryClient::with_transport("http://localhost/directory", DirectoryServer::new(Phonebook))?;
    println!("{:?}", client.find(&Find { name: "Ada".into() }).await?.person);
    Ok(())
}
