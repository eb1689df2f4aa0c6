namespace Rookery.Json;

/// <summary>
/// Limits on the nesting of JSON and the size of documents. Deeper JSON is rejected, so that recursion is bounded.
/// </summary>
public static class JsonLimits
{
    /// <summary>The most levels of objects and arrays in a document.</summary>
    public const int MaxDepth = 128;

    /// <summary>The most levels in a request or response with documents, which wraps them in a few levels.</summary>
    public const int MaxEnvelopeDepth = MaxDepth + 8;

    /// <summary>The most bytes of a document: 8 MiB.</summary>
    public const int MaxDocumentBytes = 8 * 1024 * 1024;

    /// <summary>The most bytes of a document's id in UTF-8.</summary>
    public const int MaxIdBytes = 512;
}
