using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Json;

namespace Rookery.Server.Raven.Documents;

/// <summary>
/// Reads the change vector that If-Match expects, quoted or bare. An empty pair of quotes expects that no document
/// exists.
/// </summary>
internal static class IfMatch
{
    /// <summary>Reads the header; <see cref="ExpectedChangeVector.None"/> without one.</summary>
    /// <param name="http">The request.</param>
    /// <param name="destination">At least <see cref="ExpectedChangeVector.MaxBytes"/> bytes; the result points into
    /// it.</param>
    /// <exception cref="RefusedException">The header is not a change vector: 400.</exception>
    public static ExpectedChangeVector Read(HttpContext http, Span<byte> destination)
    {
        var header = http.Request.Headers.IfMatch;
        if (header.Count == 0)
        {
            return ExpectedChangeVector.None;
        }

        ReadOnlySpan<char> text =
            header.Count == 1 ? header[0] : throw RefusedException.BadRequest("If-Match must be given once.");
        if (text is ['"', .., '"'] && text.Length >= 2)
        {
            text = text[1..^1];
        }

        return !text.Contains('"') && Encoding.UTF8.TryGetBytes(text, destination, out int length)
            ? ExpectedChangeVector.MustEqual(destination[..length])
            : throw RefusedException.BadRequest(
                $"If-Match must be one change vector of at most {ExpectedChangeVector.MaxBytes} bytes, as an "
                    + $"answer of this server has it; it is '{ShortText.Of(text, maxLength: 64)}'."
            );
    }
}
