//! Uses generated clients as clients of the load kit. They encode every request and decode every answer.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use castile::http::Body;
use castile::http::client::{Options, Proxies, ResponseBody, Transport};
use castile_load::{Answer, BoxError, Call, Connect, TypedClient, User};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use http_body::{Body as _, Frame, SizeHint};

/// Returns a function that makes clients of an endpoint's URL. A client calls `call` with the number of the request, over
/// its own connection. `call` returns the number of items in the answer, if the suite counts them.
pub(crate) fn connect<C, E, F>(
    make: impl Fn(&str, Counting) -> Result<C, E> + Send + Sync + 'static,
    call: F,
) -> Connect
where
    C: 'static,
    E: Into<BoxError>,
    F: AsyncFn(&C, usize) -> Result<u64, BoxError> + Send + Sync + 'static,
{
    let call = Arc::new(call);
    Arc::new(move |user| {
        let transport = Counting::new(user)?;
        let count = transport.count.clone();
        let client = make(&url(user), transport).map_err(Into::into)?;
        Ok(Box::new(Typed { client, call: call.clone(), count }))
    })
}

struct Typed<C, F> {
    client: C,
    call: Arc<F>,
    count: Arc<Count>,
}

impl<C, F: AsyncFn(&C, usize) -> Result<u64, BoxError>> TypedClient for Typed<C, F> {
    fn call(&mut self, number: usize) -> Call<'_> {
        self.count.sent.store(0, Ordering::Relaxed);
        self.count.received.store(0, Ordering::Relaxed);
        Box::pin(async move {
            let matches = (self.call)(&self.client, number).await?;
            let [bytes_out, bytes_in] =
                [&self.count.sent, &self.count.received].map(|bytes| bytes.load(Ordering::Relaxed));
            Ok(Answer { bytes_out, bytes_in, matches })
        })
    }
}

/// Returns the URL of a user's endpoint.
fn url(user: &User) -> String {
    let scheme = if user.endpoint.secured.is_some() { "https" } else { "http" };
    format!("{scheme}://{}{}", user.endpoint.authority, user.endpoint.path)
}

/// The transport of a client. It counts the bytes of bodies.
#[derive(Clone)]
pub(crate) struct Counting {
    transport: Transport,
    /// The headers that are added to each request.
    headers: HeaderMap,
    count: Arc<Count>,
}

#[derive(Default)]
struct Count {
    sent: AtomicU64,
    received: AtomicU64,
}

impl Counting {
    fn new(user: &User) -> Result<Self, BoxError> {
        let mut options = Options::default();
        options.connect_timeout = user.timeout;
        options.request_timeout = user.timeout;
        options.local_address = user.source;
        // The proxies of the environment are ignored, so that only the server is measured.
        options.proxies = match &user.endpoint.proxy {
            Some(proxy) => Proxies::all(&proxy.url())?,
            None => Proxies::none(),
        };
        options.cookies = user.endpoint.along.cookies;
        #[cfg(feature = "tls")]
        crate::tls::speak(user, &mut options);
        let mut headers = HeaderMap::new();
        for (name, value) in user.endpoint.along.headers.lines().filter_map(|line| line.split_once(':')) {
            headers.append(HeaderName::try_from(name)?, HeaderValue::try_from(value.trim())?);
        }
        Ok(Counting { transport: Transport::with_options(options), headers, count: Arc::default() })
    }
}

impl tower_service::Service<Request<Body>> for Counting {
    type Response = Response<Counted>;
    type Error = castile::http::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.transport.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        if !self.headers.is_empty() {
            request.headers_mut().extend(self.headers.clone());
        }
        // The suites' requests are complete in memory, so their size is known.
        let sent = request.body().size_hint().lower();
        self.count.sent.fetch_add(sent, Ordering::Relaxed);
        let count = self.count.clone();
        let response = self.transport.call(request);
        Box::pin(async move { Ok(response.await?.map(|body| Counted { body, count })) })
    }
}

/// The body of a response, which counts its bytes.
pub(crate) struct Counted {
    body: ResponseBody,
    count: Arc<Count>,
}

impl http_body::Body for Counted {
    type Data = Bytes;
    type Error = <ResponseBody as http_body::Body>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &frame
            && let Some(data) = frame.data_ref()
        {
            self.count.received.fetch_add(data.len() as u64, Ordering::Relaxed);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
