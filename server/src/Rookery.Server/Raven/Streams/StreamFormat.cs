using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Raven.Streams;

/// <summary>How a stream is framed: a JSON value a line (7.x), or one object with "Results" (5.4).</summary>
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

    /// <summary>The format asked for; "json" when none is.</summary>
    /// <exception cref="RefusedException">Another format is asked for.</exception>
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
