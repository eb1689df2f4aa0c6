namespace Rookery.Documents.Json;

/// <summary>
/// Validates documents and splits them into body and metadata, in one pass over their bytes. Not thread-safe: rent one, use it, dispose it.
/// </summary>
public sealed class DocumentParser : IDisposable
{
    private DocumentParser()
    {
    }

    /// <summary>A parser from the pool.</summary>
    public static DocumentParser Rent() => throw new NotSupportedException();

    /// <summary>Parses one document that fills <paramref name="json"/>.</summary>
    /// <returns>False when it is refused; then <paramref name="error"/> says why and nothing of the document may be used.</returns>
    public bool TryParse(ReadOnlySpan<byte> json, out ParsedDocument document, out InputError error) => throw new NotSupportedException();

    /// <summary>Gives the parser back.</summary>
    public void Dispose() => throw new NotSupportedException();
}
