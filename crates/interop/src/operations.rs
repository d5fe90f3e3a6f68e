//! The operations, for the service and the client. Each is written once, for the messages of all styles.

use std::error::Error;
use std::time::Duration;

use castile::codegen::{FaultDetail, FromXml, NoDetail, Operation, ToXml};
use castile::{Any, Call, Fault, Header, Request, Response};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::Service;
use crate::plan::{Case, Outcome};
use crate::styles::{Message, Style, Text, as_xml};

/// The result of a method of the service.
pub(crate) type Answer<R, D = NoDetail> = Result<Response<R>, Fault<D>>;

/// The result of a case, or why there is none.
type Called = Result<Outcome, Box<dyn Error>>;

/// A method of a generated client `C`.
pub(crate) type Method<C, Q, R, D = NoDetail> = for<'a> fn(&'a C, &'a Q) -> Call<'a, Q, R, D>;

/// The code in the detail of every fault of this service.
const REFUSAL_CODE: i32 = 42;

/// How many times, and at what interval, a client asks for a notice that it has sent, because one-way messages may be
/// delayed.
const NOTICE_TRIES: usize = 40;
const NOTICE_PAUSE: Duration = Duration::from_millis(50);

impl Service {
    pub(crate) fn echo<S: Style, Q, R>(&self, _: S, request: Request<Q>) -> Answer<R>
    where
        Q: Message<S>,
        R: Message<S, Value = Q::Value>,
    {
        Ok(R::new(request.into_inner().into_member()).into())
    }

    /// Answers the header block `token` with the header block `receipt`.
    pub(crate) fn echo_header<S: Style, Q, R, T, H>(
        &self,
        style: S,
        request: Request<Q>,
        receipt: fn(T) -> H,
    ) -> Answer<R>
    where
        Q: Text<S>,
        R: Text<S>,
        T: Header,
        H: Header,
    {
        let token = request.header::<T>()?;
        let response = self.echo(style, request)?;
        Ok(match token {
            Some(token) => response.with_header(receipt(token)),
            None => response,
        })
    }

    /// Returns a fault. `refusal` makes its detail of a reason and a code.
    pub(crate) fn fail<S: Style, Q: Text<S>, R, D>(
        &self,
        _: S,
        request: Request<Q>,
        refusal: fn(String, i32) -> D,
    ) -> Answer<R, D> {
        Err(Fault::receiver("refused").with_detail(refusal(request.into_inner().into_text(), REFUSAL_CODE)))
    }

    pub(crate) fn notify<S: Style, Q: Text<S>>(&self, _: S, request: Request<Q>) -> Answer<()> {
        *self.notice() = request.into_inner().into_text();
        Ok(Response::default())
    }

    /// Returns the last notice and forgets it.
    pub(crate) fn last_notice<S: Style, R: Text<S>>(&self, _: S) -> Answer<R> {
        Ok(R::of(std::mem::take(&mut self.notice())).into())
    }
}

/// Returns the content of the header block `receipt` for a token.
pub(crate) fn receipt(token: &str) -> String {
    format!("receipt for {token}")
}

/// Calls an operation that returns its value. `operations` are those of the contract.
pub(crate) async fn echo<S: Style, C, Q: Message<S>, R: Message<S>>(
    _: S,
    client: &C,
    method: Method<C, Q, R>,
    operations: &[Operation],
    case: &Case,
) -> Called {
    let request = Q::of(Any::parse(&case.xml)?.read()?);
    as_xml(operations, &case.operation, &method(client, &request).await?)
}

pub(crate) async fn echo_void<C, Q, R>(client: &C, method: Method<C, Q, R>) -> Called
where
    Q: Default + ToXml + Sync,
    R: FromXml + Send + 'static,
{
    method(client, &Q::default()).await?;
    Ok(Outcome::Value(Value::Null))
}

/// Calls the operation with header blocks. `token` and `receipt` convert them from and to their text.
pub(crate) async fn echo_header<S: Style, C, Q: Text<S>, R: Text<S>, T: Header, H: Header>(
    _: S,
    client: &C,
    method: Method<C, Q, R>,
    token: fn(String) -> T,
    receipt: fn(H) -> String,
    case: &Case,
) -> Called {
    let (request, token) = (Q::of(case.text("value")), token(case.text("token")));
    let response = method(client, &request).header(&token).send().await?;
    let receipt = response.header::<H>()?.map(receipt);
    Ok(Outcome::Value(json!({ "result": response.into_inner().into_text(), "receipt": receipt })))
}

/// Calls the operation that returns a fault. `refusal` makes JSON of its detail.
pub(crate) async fn fail<S: Style, C, Q: Text<S>, R: Text<S>, D: FaultDetail>(
    _: S,
    client: &C,
    method: Method<C, Q, R, D>,
    refusal: fn(&D) -> Value,
    case: &Case,
) -> Called {
    Ok(match method(client, &Q::of(case.text(""))).await {
        Err(error) => match error.detail() {
            Some(detail) => Outcome::Value(refusal(detail)),
            None => Outcome::Error(error.to_string()),
        },
        Ok(_) => Outcome::Error("a response, expected the declared fault".to_owned()),
    })
}

/// Sends a notice, and asks for it until it has arrived.
pub(crate) async fn notify<S: Style, C, Q: Text<S>, L: Default + ToXml + Sync, R: Text<S>>(
    _: S,
    client: &C,
    notify: Method<C, Q, ()>,
    last_notice: Method<C, L, R>,
    case: &Case,
) -> Called {
    notify(client, &Q::of(case.text(""))).await?;
    let mut notice = String::new();
    for _ in 0..NOTICE_TRIES {
        notice = last_notice(client, &L::default()).await?.into_text();
        if !notice.is_empty() {
            break;
        }
        sleep(NOTICE_PAUSE).await;
    }
    Ok(Outcome::Value(notice.into()))
}
