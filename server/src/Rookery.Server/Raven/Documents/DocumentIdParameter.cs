using System.Text;
using Rookery.Documents.Ids;
using Rookery.Json;

namespace Rookery.Server.Raven.Documents;

/// <summary>A document's id in a URL.</summary>
internal static class DocumentIdParameter
{
    /// <summary>Unescapes and checks the id of an existing document.</summary>
    /// <param name="escaped">As in the URL.</param>
    /// <param name="destination">At least <see cref="DocumentId.MaxBytes"/> bytes.</param>
    /// <returns>Bytes of the id.</returns>
    /// <exception cref="RefusedException">It is no id.</exception>
    public static int Read(ReadOnlySpan<char> escaped, Span<byte> destination)
    {
        int length = QueryParameters.Unescape(escaped, destination);
        return length >= 0 && DocumentId.TryValidate(destination[..length], out _)
            ? length
            : throw Explain(escaped, forStore: false);
    }

    /// <summary>The same for an id to store under, which may be empty or end with a slash or a bar.</summary>
    /// <inheritdoc cref="Read"/>
    public static int ReadForStore(ReadOnlySpan<char> escaped, Span<byte> destination)
    {
        int length = QueryParameters.Unescape(escaped, destination);
        return length >= 0 && DocumentId.TryValidateForStore(destination[..length], out _)
            ? length
            : throw Explain(escaped, forStore: true);
    }

    /// <summary>Checks an id that a body names.</summary>
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
