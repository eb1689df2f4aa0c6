using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Raven.Streams;

/// <summary>
/// Form of a streamed answer: one JSON value a line (clients of RavenDB 7.x), or one object with "Results" (5.4).
/// </summary>
internal enum StreamFormat
{
    JsonLines,
    Json,
}

/// <summary>Reads the parameter "format".</summary>
internal static class StreamFormats
{
    public const string JsonLinesType = "application/x-ndjson; charset=utf-8";
    public const string JsonType = "application/json; charset=utf-8";

    /// <summary>Returns the requested format; "json" without one.</summary>
    /// <exception cref="RefusedException">The format is unknown: 501.</exception>
    public static StreamFormat Read(HttpContext http) =>
        new QueryParameters(http).Text("format") switch
        {
            "jsonl" => StreamFormat.JsonLines,
            null or "" or "json" => StreamFormat.Json,
            var other => throw RefusedException.NotSupported(
                $"format={other} of streams is not supported by this version; use jsonl or json."
            ),
        };
}
