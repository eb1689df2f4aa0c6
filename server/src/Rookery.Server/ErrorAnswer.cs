using System.Text.Encodings.Web;
using System.Text.Json;
using Microsoft.AspNetCore.Http;

namespace Rookery.Server;

/// <summary>
/// Writes a refusal in RavenDB's shape, {"Url","Type","Message","Error"}: its clients make their exception from the
/// last segment of Type, take their text from Error (from Message for 409), and throw a TypeError when a 503 has no
/// body. Every refusal of this server has this body.
/// </summary>
public static class ErrorAnswer
{
    /// <summary>The type for a fault that has no exception of its own in the clients.</summary>
    public const string RavenException = "Raven.Client.Exceptions.RavenException";

    /// <summary>The type for what we do not support.</summary>
    public const string NotSupported = "Raven.Client.Exceptions.NotSupportedException";

    /// <summary>The type for requests that are wrong in themselves.</summary>
    public const string BadRequest = "Raven.Client.Exceptions.BadRequestException";

    /// <summary>The type for requests that nobody may send; clients expect it with 403.</summary>
    public const string Forbidden = "Raven.Client.Exceptions.Security.AuthorizationException";

    /// <summary>
    /// Answers with <paramref name="status"/> and the body. An answer that has begun is broken off: half of it cannot
    /// become an error, and must not look like a whole one.
    /// </summary>
    /// <param name="http">The request.</param>
    /// <param name="status">The HTTP status.</param>
    /// <param name="type">The full name of RavenDB's exception.</param>
    /// <param name="message">One sentence: what, where, what to do.</param>
    public static Task WriteAsync(HttpContext http, int status, string type, string message)
    {
        if (http.Response.HasStarted)
        {
            http.Abort();
            return Task.CompletedTask;
        }

        http.Response.StatusCode = status;
        http.Response.ContentType = "application/json; charset=utf-8";
        if (HttpMethods.IsHead(http.Request.Method))
        {
            return Task.CompletedTask;
        }

        byte[] body = Encode(http.Request.Path + http.Request.QueryString, type, message);
        http.Response.ContentLength = body.Length;
        return http.Response.Body.WriteAsync(body, 0, body.Length, http.RequestAborted);
    }

    // Quotes and signs as they are: the sentence is read by people too. Nothing shows this type of content as a page.
    private static readonly JsonWriterOptions Readable = new()
    {
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    };

    private static byte[] Encode(string url, string type, string message)
    {
        var body = new MemoryStream();
        using (var json = new Utf8JsonWriter(body, Readable))
        {
            json.WriteStartObject();
            json.WriteString("Url"u8, url);
            json.WriteString("Type"u8, type);
            json.WriteString("Message"u8, message);
            json.WriteString("Error"u8, type + ": " + message);
            json.WriteEndObject();
        }

        return body.ToArray();
    }
}
