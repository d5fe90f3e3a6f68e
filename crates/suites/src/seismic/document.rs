//! Queries and answers as documents: what the article's own engine sent.

use castile::Fault;
use castile::datatypes::{Id, Idref, Token};
use castile_load::{Connect, User};

use super::catalogue::{self, Bounds, Catalogue, Found};
use super::judge::Judge;
use super::regions::Names;
use super::time::{millis, moment, moment_of_millis};
use super::{Service, limits};
use crate::client::{self, Counting};

/// The contract, generated.
pub mod contract {
    castile::include_contract!("seismic");
}

use contract::quakes::{Quake, QuakeSet, Quakes, Query, Region, Regions, Results};

/// Where the service is mounted.
pub const PATH: &str = "/seismic";

impl contract::QuakeInterface for Service {
    async fn process(&self, request: Query) -> Result<Results, Fault> {
        let catalogue = self.catalogue();
        Ok(results(catalogue, catalogue.find(&asked(&request))))
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
pub fn query(asked: &catalogue::Query) -> Query {
    Query {
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
    }
}

fn results(catalogue: &Catalogue, found: Vec<Found>) -> Results {
    let methods: Vec<Token> = catalogue.methods().iter().map(|method| method.as_str().into()).collect();
    let result_set: Vec<QuakeSet> = found.into_iter().map(|found| set(&methods, found)).collect();
    Results { count: count(result_set.len()), result_set }
}

fn set(methods: &[Token], found: Found) -> QuakeSet {
    let names = Names::published();
    let region = |number: &u16| Region {
        value: names.region(*number).name.to_owned(),
        ident: Id::try_from(ident(*number)).ok(),
        index: Some(i32::from(*number)),
    };
    let quake = |quake: &catalogue::Quake| Quake {
        time: Some(moment(quake.millis.div_euclid(1_000))),
        millis: Some(quake.millis.rem_euclid(1_000) as i32),
        latitude: Some(quake.latitude),
        longitude: Some(quake.longitude),
        depth: Some(quake.depth),
        magnitude: Some(quake.magnitude),
        method: methods.get(usize::from(quake.method)).cloned(),
        region: Idref::try_from(ident(quake.region)).ok(),
    };
    QuakeSet {
        area_name: names.area(found.area).to_owned(),
        regions: Regions { count: count(found.regions.len()), region: found.regions.iter().map(region).collect() },
        quakes: Quakes { count: count(found.quakes.len()), quake: found.quakes.into_iter().map(quake).collect() },
    }
}

/// How a region is referred to.
pub(super) fn ident(region: u16) -> String {
    format!("rgn{region}")
}

fn count(number: usize) -> Option<i32> {
    i32::try_from(number).ok()
}

/// Looks at an answer as far as can be done without the catalogue, and says how many quakes are in it.
pub fn judge(asked: &catalogue::Query, results: &Results) -> Result<u64, String> {
    let mut judge = Judge::new(asked);
    judge.count("result sets", results.count, results.result_set.len())?;
    for set in &results.result_set {
        judge.count("regions", set.regions.count, set.regions.region.len())?;
        judge.count("quakes", set.quakes.count, set.quakes.quake.len())?;
        for quake in &set.quakes.quake {
            let at = (quake.time.as_ref(), quake.millis);
            let [latitude, longitude] = [quake.latitude, quake.longitude];
            judge.quake(at, latitude, longitude, quake.depth, quake.magnitude)?;
        }
    }
    Ok(judge.matches())
}

/// Clients that send these queries.
pub(super) fn connect(queries: Vec<catalogue::Query>) -> Connect {
    type Client = contract::QuakeInterfaceClient<Counting>;
    let make =
        |user: &User, transport| Ok(Client::with_transport(&client::url(user), transport)?.with_limits(limits()));
    client::connect(make, async move |client: &Client, number| {
        let asked = &queries[number];
        Ok(judge(asked, &client.process(&query(asked)).await?)?)
    })
}
