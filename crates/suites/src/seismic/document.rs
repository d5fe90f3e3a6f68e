//! Queries and answers as documents, as the article's own engine sent them.

use castile::datatypes::{Id, Idref, Token};
use castile::{Fault, Items, Request, Response};
use futures_util::stream;

use super::Service;
use super::catalogue::{self, Catalogue, Found};
use super::judge::Judge;
use super::mapping::mapping;
use super::regions::Names;

/// The contract, generated.
pub mod contract {
    castile::include_contract!("seismic");
}

use contract::quakes::{Quake, QuakeSet, Quakes, Query, Region, Regions, Results};

/// The path of the service.
pub const PATH: &str = "/seismic";

/// An answer with at least this many quakes is sent while it is made.
const STREAMED: usize = 2_000;

impl contract::QuakeInterface for Service {
    async fn process(&self, request: Request<Query>) -> Result<Response<Results>, Fault> {
        let asked = asked(&request.into_inner());
        let catalogue = self.catalogue();
        let methods = methods(catalogue);
        let found = catalogue.find(&asked);
        let count = count(found.len());
        if found.iter().map(|found| found.quakes.len()).sum::<usize>() < STREAMED {
            return Ok(results(&methods, found).into());
        }
        // Each set is made after the one before it was sent.
        let areas: Vec<u16> = found.iter().map(|found| found.area).collect();
        let service = self.clone();
        let sets = areas.into_iter().filter_map(move |area| {
            let found = service.catalogue().find_in(area, &asked)?;
            Some(Ok::<_, std::convert::Infallible>(set(&methods, found)))
        });
        Ok(Results { count, result_set: Items::stream(stream::iter(sets)) }.into())
    }
}

/// The same service, except that no answer is sent while it is made: a signature covers all of it.
#[cfg(feature = "security")]
#[derive(Clone, Debug)]
pub(super) struct Whole(pub(super) Service);

#[cfg(feature = "security")]
impl contract::QuakeInterface for Whole {
    async fn process(&self, request: Request<Query>) -> Result<Response<Results>, Fault> {
        let asked = asked(&request.into_inner());
        Ok(self.0.answer(asked, |catalogue, found| results(&methods(catalogue), found)).await.into())
    }
}

mapping!(method: Token, region: Idref);

/// Returns the complete answer of a catalogue to a query.
pub fn answer(catalogue: &Catalogue, asked: &catalogue::Query) -> Results {
    results(&methods(catalogue), catalogue.find(asked))
}

fn results(methods: &[Token], found: Vec<Found>) -> Results {
    let count = count(found.len());
    Results { count, result_set: found.into_iter().map(|found| set(methods, found)).collect() }
}

/// Returns the message of a query.
pub fn request(asked: &catalogue::Query) -> Query {
    query(asked)
}

fn methods(catalogue: &Catalogue) -> Vec<Token> {
    catalogue.methods().iter().map(|method| method.as_str().into()).collect()
}

fn set(methods: &[Token], found: Found) -> QuakeSet {
    let names = Names::published();
    let region = |number: &u16| Region {
        value: names.region(*number).name.to_owned(),
        ident: Id::try_from(ident(*number)).ok(),
        index: Some(i32::from(*number)),
    };
    let references: Vec<Option<Idref>> =
        found.regions.iter().map(|number| Idref::try_from(ident(*number)).ok()).collect();
    let element = |one: &&catalogue::Quake| {
        let method = methods.get(usize::from(one.method)).cloned();
        quake(one, method, found.region_of(one).and_then(|at| references[at].clone()))
    };
    QuakeSet {
        area_name: names.area(found.area).to_owned(),
        regions: Regions { count: count(found.regions.len()), region: found.regions.iter().map(region).collect() },
        quakes: Quakes { count: count(found.quakes.len()), quake: found.quakes.iter().map(element).collect() },
    }
}

/// Returns the id of a region.
pub(super) fn ident(region: u16) -> String {
    format!("rgn{region}")
}

fn count(number: usize) -> Option<i32> {
    i32::try_from(number).ok()
}

/// Checks an answer as far as possible without the catalogue. Returns how many quakes are in it.
pub fn judge(asked: &catalogue::Query, results: &Results) -> Result<u64, String> {
    let mut judge = Judge::new(asked);
    // A decoded answer has all its items in memory.
    let sets = results.result_set.get().unwrap_or_default();
    judge.count("result sets", results.count, sets.len())?;
    for set in sets {
        judge.count("regions", set.regions.count, set.regions.region.len())?;
        judge.count("quakes", set.quakes.count, set.quakes.quake.len())?;
        for quake in &set.quakes.quake {
            judge_quake(&mut judge, quake)?;
        }
    }
    Ok(judge.matches())
}
