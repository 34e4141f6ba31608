// SPDX-License-Identifier: MIT

//! The echo server of mcpload on rmcp: rmcp PORT, http://127.0.0.1:PORT/mcp, sessions (it answers with streams then).

use axum::serve::ListenerExt;
use rmcp::{
    ServerHandler,
    handler::server::wrapper::Parameters,
    model::{ServerCapabilities, ServerConfig},
    schemars, tool, tool_handler, tool_router,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Text {
    text: String,
}

#[derive(Clone)]
struct Echo;

#[tool_router]
impl Echo {
    #[tool(description = "echo")]
    fn echo(&self, Parameters(Text { text }): Parameters<Text>) -> String {
        text
    }
}

#[tool_handler(router = Self::tool_router())]
impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let port = std::env::args().nth(1).expect("usage: rmcp PORT");
    let sessions = LocalSessionManager::default();
    let config = StreamableHttpServerConfig::default();
    let service = StreamableHttpService::new(|| Ok(Echo), sessions.into(), config);
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    let listener = listener.tap_io(|stream| stream.set_nodelay(true).expect("TCP_NODELAY"));
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await
}
