use castile::http::server::{Routes, Server, shutdown_signal};
use castile::{Fault, Request, Response};

mod device {
    castile::include_contract!("devicemgmt");
}
use device::*;

struct Camera;

impl Device for Camera {
    async fn get_device_information(
        &self,
        _: Request<GetDeviceInformation>,
    ) -> Result<Response<GetDeviceInformationResponse>, Fault> {
        let information = GetDeviceInformationResponse {
            manufacturer: "Castile".into(),
            model: "C1".into(),
            firmware_version: "1.0".into(),
            serial_number: "7".into(),
            hardware_id: "x".into(),
        };
        Ok(information.into())
    }

    async fn get_system_date_and_time(
        &self,
        _: Request<GetSystemDateAndTime>,
    ) -> Result<Response<GetSystemDateAndTimeResponse>, Fault> {
        let system_date_and_time = schema::SystemDateTime {
            any_attributes: Vec::new(),
            date_time_type: schema::SetDateTimeType::Ntp,
            daylight_savings: false,
            time_zone: None,
            utc_date_time: Some(schema::DateTime {
                time: schema::Time { hour: 12, minute: 0, second: 0 },
                date: schema::Date { year: 2026, month: 11, day: 22 },
            }),
            local_date_time: None,
            extension: None,
        };
        Ok(GetSystemDateAndTimeResponse { system_date_and_time }.into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let client = DeviceClient::new(&format!("http://{}/onvif/device_service", listener.local_addr()?))?;
    let routes = Routes::new().route("/onvif/device_service", DeviceServer::new(Camera));
    tokio::spawn(Server::new().serve(listener, routes, shutdown_signal()));
    println!("{:?}", client.get_device_information(&GetDeviceInformation {}).await?);
    println!("{:?}", client.get_system_date_and_time(&GetSystemDateAndTime::default()).await?);
    Ok(())
}
