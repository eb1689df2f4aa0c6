using Rookery.Json;

namespace Rookery.Documents.Parsing;

/// <summary>The limits of documents. Beyond them a request is refused and nothing is stored.</summary>
public static class DocumentLimits
{
    /// <summary>Bytes of a document as sent: 8 MiB.</summary>
    public const int MaxDocumentBytes = JsonLimits.MaxDocumentBytes;

    /// <summary>Bytes of a collection's name in UTF-8.</summary>
    public const int MaxCollectionBytes = 512;

    /// <summary>The most an atomic batch may take, whatever the memory: 32 MiB.</summary>
    public const int MaxBatchBytes = 32 * 1024 * 1024;

    /// <summary>
    /// Memory that a command of a batch takes for its result and its part of the answer, however short it is; measured
    /// about 250.
    /// </summary>
    public const int BytesPerBatchCommand = 256;

    /// <summary>Commands of an atomic batch that may take so many bytes.</summary>
    public static int BatchCommands(int batchBytes) => Math.Max(batchBytes / BytesPerBatchCommand, 1);
}
