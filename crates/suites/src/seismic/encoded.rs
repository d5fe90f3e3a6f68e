//! Queries and answers as objects in SOAP encoding, as other engines of the article sent them.

use castile::{Fault, Request, Response};

use super::Service;
use super::catalogue::{self, Catalogue, Found};
use super::document::ident;
use super::judge::Judge;
use super::mapping::mapping;
use super::regions::Names;

/// The contract, generated.
pub mod contract {
    castile::include_contract!("seismic_encoded");
}

use contract::{ArrayOfQuake, ArrayOfQuakeSet, ProcessRequest, ProcessResponse, Quake, QuakeSet, Query, Region};

/// The path of the service.
pub const PATH: &str = "/seismic/encoded";

impl contract::EncodedQuakeInterface for Service {
    async fn process(&self, request: Request<ProcessRequest>) -> Result<Response<ProcessResponse>, Fault> {
        let asked = asked(&request.into_inner().query.unwrap_or_default());
        Ok(ProcessResponse { process_return: Some(self.answer(asked, sets).await) }.into())
    }
}

mapping!(method: String, region: String);

/// Returns the message of a query.
pub fn request(asked: &catalogue::Query) -> ProcessRequest {
    ProcessRequest { query: Some(query(asked)) }
}

fn sets(catalogue: &Catalogue, found: Vec<Found>) -> ArrayOfQuakeSet {
    found.into_iter().map(|found| set(catalogue, found)).collect()
}

fn set(catalogue: &Catalogue, found: Found) -> QuakeSet {
    let names = Names::published();
    let region = |number: &u16| Region {
        ident: Some(ident(*number)),
        index: Some(i32::from(*number)),
        name: Some(names.region(*number).name.to_owned()),
    };
    let references: Vec<String> = found.regions.iter().map(|number| ident(*number)).collect();
    let element = |one: &&catalogue::Quake| {
        let method = catalogue.methods().get(usize::from(one.method)).cloned();
        quake(one, method, found.region_of(one).map(|at| references[at].clone()))
    };
    QuakeSet {
        area_name: Some(names.area(found.area).to_owned()),
        regions: Some(found.regions.iter().map(region).collect()),
        quakes: Some(found.quakes.iter().map(element).collect()),
    }
}

/// Checks an answer as far as possible without the catalogue. Returns how many quakes are in it.
pub fn judge(asked: &catalogue::Query, response: &ProcessResponse) -> Result<u64, String> {
    let mut judge = Judge::new(asked);
    let sets = response.process_return.as_ref().ok_or("found nothing, expected result sets")?;
    for set in &sets.0 {
        let set = set.as_ref().ok_or("found nil, expected a result set")?;
        let ArrayOfQuake(quakes) = set.quakes.as_ref().ok_or("found a result set without quakes")?;
        for quake in quakes {
            let quake = quake.as_ref().ok_or("found nil, expected a quake")?;
            judge_quake(&mut judge, quake)?;
        }
    }
    Ok(judge.matches())
}
