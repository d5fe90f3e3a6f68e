//! Calls a camera whose clock is wrong: asks for its time, and sends a digest of the password by that.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

use castile::datatypes::DateTime;
use castile::wss::Secret;
use castile::wss::message::{ClientSecurity, OutgoingSecurity, PasswordForm, Policy, SecurityLayer, UsernameToken};
use castile::{ClientOptions, service};

/// What anybody may ask. The contracts of ONVIF have more in these two operations.
#[service(namespace = "urn:example:device")]
trait Device {
    async fn get_system_date_and_time(&self) -> DateTime;
}

/// What needs a password.
#[service(namespace = "urn:example:media")]
trait Media {
    async fn get_stream_uri(&self, profile: String) -> String;
}

struct Camera;

/// The clock of the camera is an hour ahead.
fn camera_clock() -> SystemTime {
    SystemTime::now() + Duration::from_secs(3600)
}

impl Device for Camera {
    async fn get_system_date_and_time(&self) -> DateTime {
        camera_clock().into()
    }
}

impl Media for Camera {
    async fn get_stream_uri(&self, profile: String) -> String {
        format!("rtsp://camera.example/{profile}")
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A double of the camera. A digest has a time in it, which must not be old by the camera's clock, and not in the future.
    let passwords = BTreeMap::from([("viewer".to_owned(), Secret::new(*b"tea at five"))]);
    let security = SecurityLayer::new(Policy::authenticated_by(passwords).with_clock(camera_clock))
        .on_refusal(|error| println!("the camera refuses: {:?}", error.kind()));
    let camera = MediaServer::new(Camera).layer(security);
    let client = |security: OutgoingSecurity| {
        let options = ClientOptions::default().with_security(ClientSecurity::new(security));
        MediaClient::with_transport("http://camera.example/media", camera.clone())
            .map(|client| client.with_options(options))
    };
    let request = media::GetStreamUriRequest { profile: "main".into() };

    let username = UsernameToken::new("viewer", "tea at five").with_form(PasswordForm::Digest);
    let security = OutgoingSecurity::new().with_username(username);
    if let Err(error) = client(security.clone())?.get_stream_uri(&request).await {
        println!("{error}");
    }

    // A camera tells everybody its time. From then on, a clock runs with it that no change of ours affects.
    let device = DeviceClient::with_transport("http://camera.example/device", DeviceServer::new(Camera))?;
    let answer = device.get_system_date_and_time(&device::GetSystemDateAndTimeRequest {}).await?;
    let (time, asked) = (SystemTime::try_from(answer.result)?, Instant::now());
    let security = security.with_clock(move || time.checked_add(asked.elapsed()).unwrap_or(time));
    println!("{}", client(security)?.get_stream_uri(&request).await?.result);
    Ok(())
}
