using System.Text;
using Rookery.Documents.Ids;
using Rookery.Json;

namespace Rookery.Server.Raven.Documents;

/// <summary>Reads document ids from URLs and bodies.</summary>
internal static class DocumentIdParameter
{
    /// <summary>Unescapes and validates the id of an existing document.</summary>
    /// <param name="escaped">The id as it is in the URL.</param>
    /// <param name="destination">At least <see cref="DocumentId.MaxBytes"/> bytes.</param>
    /// <returns>Length of the id in bytes.</returns>
    /// <exception cref="RefusedException">It is not a valid id: 400.</exception>
    public static int Read(ReadOnlySpan<char> escaped, Span<byte> destination)
    {
        int length = QueryParameters.Unescape(escaped, destination);
        return length >= 0 && DocumentId.TryValidate(destination[..length], out _)
            ? length
            : throw Explain(escaped, forStore: false);
    }

    /// <summary>Reads an id for a PUT, which may also be empty or end with a slash or a bar.</summary>
    /// <inheritdoc cref="Read"/>
    public static int ReadForStore(ReadOnlySpan<char> escaped, Span<byte> destination)
    {
        int length = QueryParameters.Unescape(escaped, destination);
        return length >= 0 && DocumentId.TryValidateForStore(destination[..length], out _)
            ? length
            : throw Explain(escaped, forStore: true);
    }

    /// <summary>Validates an id from a body and returns it as UTF-8.</summary>
    public static byte[] Check(string id)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(id);
        return DocumentId.TryValidate(bytes, out var error) ? bytes : throw RavenErrors.Refuse(error);
    }

    private static RefusedException Explain(ReadOnlySpan<char> escaped, bool forStore)
    {
        byte[] bytes = new byte[Encoding.UTF8.GetMaxByteCount(escaped.Length)];
        int length = QueryParameters.Unescape(escaped, bytes);
        InputError error = default;
        bool isGood =
            length >= 0
            && (
                forStore
                    ? DocumentId.TryValidateForStore(bytes.AsSpan(0, length), out error)
                    : DocumentId.TryValidate(bytes.AsSpan(0, length), out error)
            );
        return isGood || length < 0
            ? RefusedException.BadRequest(
                "The id in the query string is not UTF-8 after its percent escapes are resolved."
            )
            : RavenErrors.Refuse(error);
    }
}
