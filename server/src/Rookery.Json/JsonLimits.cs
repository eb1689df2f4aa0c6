namespace Rookery.Json;

/// <summary>Limits on the nesting of JSON and the size of documents. The limit on nesting bounds recursion.</summary>
public static class JsonLimits
{
    /// <summary>Maximum levels of objects and arrays in a document.</summary>
    public const int MaxDepth = 128;

    /// <summary>Maximum levels in a request or response: those of a document, and a few around it.</summary>
    public const int MaxEnvelopeDepth = MaxDepth + 8;

    /// <summary>Maximum bytes of a document: 8 MiB.</summary>
    public const int MaxDocumentBytes = 8 * 1024 * 1024;

    /// <summary>Maximum bytes of a document's id in UTF-8.</summary>
    public const int MaxIdBytes = 512;
}
