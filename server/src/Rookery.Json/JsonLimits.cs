namespace Rookery.Json;

/// <summary>
/// How deep JSON may be nested, and how large documents are. Deeper text is refused, so that no reader recurses without
/// a bound.
/// </summary>
public static class JsonLimits
{
    /// <summary>Levels of objects and arrays in a document.</summary>
    public const int MaxDepth = 128;

    /// <summary>Levels of a body or an answer that carries documents: it puts a few around them.</summary>
    public const int MaxEnvelopeDepth = MaxDepth + 8;

    /// <summary>Bytes of a document: 8 MiB.</summary>
    public const int MaxDocumentBytes = 8 * 1024 * 1024;

    /// <summary>Bytes of a document's id in UTF-8.</summary>
    public const int MaxIdBytes = 512;
}
