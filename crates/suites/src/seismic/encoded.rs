//! Queries and answers as objects in SOAP encoding, as other engines of the article sent them.

use castile::Fault;
use castile_load::{Connect, User};

use super::catalogue::{self, Bounds, Catalogue, Found};
use super::document::ident;
use super::judge::Judge;
use super::regions::Names;
use super::time::{millis, moment, moment_of_millis};
use super::{Service, limits};
use crate::client::{self, Counting};

/// The contract, generated.
pub mod contract {
    castile::include_contract!("seismic_encoded");
}

use contract::{ArrayOfQuake, ProcessRequest, ProcessResponse, Quake, QuakeSet, Query, Region};

/// Where the service is mounted.
pub const PATH: &str = "/seismic/encoded";

impl contract::EncodedQuakeInterface for Service {
    async fn process(&self, request: ProcessRequest) -> Result<ProcessResponse, Fault> {
        let catalogue = self.catalogue();
        let found = catalogue.find(&asked(&request.query.unwrap_or_default()));
        let sets = found.into_iter().map(|found| set(catalogue, found)).collect();
        Ok(ProcessResponse { process_return: Some(sets) })
    }
}

/// What is asked for.
fn asked(query: &Query) -> catalogue::Query {
    catalogue::Query {
        from: query.min_date.as_ref().map(millis),
        to: query.max_date.as_ref().map(millis),
        longitude: Bounds { least: query.min_long, below: query.max_long },
        latitude: Bounds { least: query.min_lat, below: query.max_lat },
        magnitude: Bounds { least: query.min_mag, below: query.max_mag },
        depth: Bounds { least: query.min_depth, below: query.max_depth },
    }
}

/// A query as its message.
pub fn request(asked: &catalogue::Query) -> ProcessRequest {
    let query = Query {
        min_date: asked.from.map(moment_of_millis),
        max_date: asked.to.map(moment_of_millis),
        min_long: asked.longitude.least,
        max_long: asked.longitude.below,
        min_lat: asked.latitude.least,
        max_lat: asked.latitude.below,
        min_mag: asked.magnitude.least,
        max_mag: asked.magnitude.below,
        min_depth: asked.depth.least,
        max_depth: asked.depth.below,
    };
    ProcessRequest { query: Some(query) }
}

fn set(catalogue: &Catalogue, found: Found) -> QuakeSet {
    let names = Names::published();
    let region = |number: u16| Region {
        ident: Some(ident(number)),
        index: Some(i32::from(number)),
        name: Some(names.region(number).name.to_owned()),
    };
    let quake = |quake: &catalogue::Quake| Quake {
        time: Some(moment(quake.millis.div_euclid(1_000))),
        millis: Some(quake.millis.rem_euclid(1_000) as i32),
        latitude: Some(quake.latitude),
        longitude: Some(quake.longitude),
        depth: Some(quake.depth),
        magnitude: Some(quake.magnitude),
        method: catalogue.methods().get(usize::from(quake.method)).cloned(),
        region: Some(ident(quake.region)),
    };
    QuakeSet {
        area_name: Some(names.area(found.area).to_owned()),
        regions: Some(found.regions.into_iter().map(region).collect()),
        quakes: Some(found.quakes.into_iter().map(quake).collect()),
    }
}

/// Looks at an answer as far as can be done without the catalogue, and says how many quakes are in it.
pub fn judge(asked: &catalogue::Query, response: &ProcessResponse) -> Result<u64, String> {
    let mut judge = Judge::new(asked);
    let sets = response.process_return.as_ref().ok_or("found nothing, expected result sets")?;
    for set in &sets.0 {
        let set = set.as_ref().ok_or("found nil, expected a result set")?;
        let ArrayOfQuake(quakes) = set.quakes.as_ref().ok_or("found a result set without quakes")?;
        for quake in quakes {
            let quake = quake.as_ref().ok_or("found nil, expected a quake")?;
            let at = (quake.time.as_ref(), quake.millis);
            let [latitude, longitude] = [quake.latitude, quake.longitude];
            judge.quake(at, latitude, longitude, quake.depth, quake.magnitude)?;
        }
    }
    Ok(judge.matches())
}

/// Clients that send these queries.
pub(super) fn connect(queries: Vec<catalogue::Query>) -> Connect {
    type Client = contract::EncodedQuakeInterfaceClient<Counting>;
    let make =
        |user: &User, transport| Ok(Client::with_transport(&client::url(user), transport)?.with_limits(limits()));
    client::connect(make, async move |client: &Client, number| {
        let asked = &queries[number];
        Ok(judge(asked, &client.process(&request(asked)).await?)?)
    })
}
