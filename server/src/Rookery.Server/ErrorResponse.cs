using System.Text.Encodings.Web;
using System.Text.Json;
using Microsoft.AspNetCore.Http;

namespace Rookery.Server;

/// <summary>
/// Writes error answers in RavenDB's form, {"Url","Type","Message","Error"}. RavenDB's clients choose their exception
/// by the last segment of Type, take its text from Error (from Message for 409), and throw a TypeError for a 503
/// without a body. Every error of this server has this body.
/// </summary>
public static class ErrorResponse
{
    /// <summary>Type of an error for which the clients have no exception of their own.</summary>
    public const string RavenException = "Raven.Client.Exceptions.RavenException";

    /// <summary>Type of an unsupported request.</summary>
    public const string NotSupported = "Raven.Client.Exceptions.NotSupportedException";

    /// <summary>Type of an invalid request.</summary>
    public const string BadRequest = "Raven.Client.Exceptions.BadRequestException";

    /// <summary>Type of a forbidden request; clients expect it with 403.</summary>
    public const string Forbidden = "Raven.Client.Exceptions.Security.AuthorizationException";

    /// <summary>
    /// Answers with <paramref name="status"/> and the error body. If the answer has already begun, closes the
    /// connection instead, so that half an answer does not look complete. A 429 without Retry-After gets one of a
    /// second.
    /// </summary>
    /// <param name="http">The request.</param>
    /// <param name="status">The HTTP status.</param>
    /// <param name="type">Full name of RavenDB's exception.</param>
    /// <param name="message">What is wrong, where, and what to do.</param>
    /// <param name="members">Writes further members of the body; null for none.</param>
    public static Task WriteAsync(
        HttpContext http,
        int status,
        string type,
        string message,
        Action<Utf8JsonWriter>? members = null
    )
    {
        if (http.Response.HasStarted)
        {
            http.Abort();
            return Task.CompletedTask;
        }

        http.Response.StatusCode = status;
        http.Response.ContentType = "application/json; charset=utf-8";
        if (status == StatusCodes.Status429TooManyRequests && http.Response.Headers.RetryAfter.Count == 0)
        {
            http.Response.Headers.RetryAfter = "1";
        }

        // A route that sends a file may have set it. A browser would save the error as that file.
        http.Response.Headers.ContentDisposition = default;
        if (HttpMethods.IsHead(http.Request.Method))
        {
            return Task.CompletedTask;
        }

        byte[] body = Encode(http.Request.Path + http.Request.QueryString, type, message, members);
        http.Response.ContentLength = body.Length;
        return http.Response.Body.WriteAsync(body, 0, body.Length, http.RequestAborted);
    }

    // Quotes and angle brackets stay unescaped, because people read the message too. Browsers do not render this
    // content type as a page.
    private static readonly JsonWriterOptions Readable = new()
    {
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    };

    /// <summary>Returns the body of an error.</summary>
    internal static byte[] Encode(string url, string type, string message, Action<Utf8JsonWriter>? members = null)
    {
        var body = new MemoryStream();
        using (var json = new Utf8JsonWriter(body, Readable))
        {
            json.WriteStartObject();
            json.WriteString("Url"u8, url);
            json.WriteString("Type"u8, type);
            json.WriteString("Message"u8, message);
            json.WriteString("Error"u8, type + ": " + message);
            members?.Invoke(json);
            json.WriteEndObject();
        }

        return body.ToArray();
    }
}
