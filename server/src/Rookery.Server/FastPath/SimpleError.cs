using System.IO.Pipelines;
using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Consensus;
using Rookery.Server.Raven;

namespace Rookery.Server.FastPath;

/// <summary>Writes error responses to simple requests.</summary>
internal static class SimpleError
{
    /// <summary>Writes a response with RavenDB's error body.</summary>
    /// <param name="request">The request.</param>
    /// <param name="status">Status code and reason.</param>
    /// <param name="type">Full name of RavenDB's exception.</param>
    /// <param name="message">What is wrong, where, and what to do.</param>
    /// <param name="output">Receives the response; the caller flushes.</param>
    /// <param name="date">The Date header with its line break.</param>
    /// <returns>Length of the response in bytes.</returns>
    public static int Write(
        SimpleRequest request,
        ReadOnlySpan<byte> status,
        string type,
        string message,
        PipeWriter output,
        ReadOnlySpan<byte> date
    )
    {
        byte[] body = ErrorResponse.Encode(Encoding.ASCII.GetString(request.Target), type, message);
        var head = new ResponseHead(output, status, body.Length);
        head.AddJson(body.Length);
        if (status.StartsWith("429"u8))
        {
            head.Add("Retry-After: "u8, "1"u8);
        }

        return head.End(date, body);
    }

    /// <summary>
    /// Writes the response to a request for which no leader was found in time. The full pipeline does not answer it,
    /// because it would wait for a leader once more.
    /// </summary>
    /// <param name="request">The request.</param>
    /// <param name="rejection">Why it is refused.</param>
    /// <param name="context">State that all routes share.</param>
    /// <param name="output">Receives the response; the caller flushes.</param>
    /// <param name="date">The Date header with its line break.</param>
    /// <param name="status">Status of the response.</param>
    /// <returns>Length of the response in bytes; 0 if the full pipeline has to explain the rejection.</returns>
    public static int WriteNoLeader(
        SimpleRequest request,
        Rejection rejection,
        ServerContext context,
        PipeWriter output,
        ReadOnlySpan<byte> date,
        out int status
    )
    {
        status = StatusCodes.Status503ServiceUnavailable;
        return rejection.Kind == RejectionKind.NoLeader && RavenErrors.WhyNoPart(context) is null
            ? Write(request, "503 Service Unavailable"u8, RavenType.NoLeader, rejection.Message, output, date)
            : 0;
    }
}
