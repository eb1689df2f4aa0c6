using Rookery.Json;

namespace Rookery.Documents.Parsing;

/// <summary>Limits of documents and batches. A request beyond them is refused, and nothing is stored.</summary>
public static class DocumentLimits
{
    /// <summary>Maximum length of a document as sent: 8 MiB.</summary>
    public const int MaxDocumentBytes = JsonLimits.MaxDocumentBytes;

    /// <summary>Maximum length of a collection's name in UTF-8.</summary>
    public const int MaxCollectionBytes = 512;

    /// <summary>Maximum size of an atomic batch, whatever the memory budget: 32 MiB.</summary>
    public const int MaxBatchBytes = 32 * 1024 * 1024;

    /// <summary>
    /// Maximum length of a command: a full batch and one operation more, because the batch's limit is checked after
    /// each operation. Members accept messages of 40 MiB, so a longer command could never be replicated.
    /// </summary>
    public const int MaxCommandBytes = MaxBatchBytes + (4 * 1024 * 1024);

    /// <summary>
    /// Memory for the result and response of one command in a batch, even of a short one. Measured: about 250 bytes.
    /// </summary>
    public const int BytesPerBatchCommand = 256;

    /// <summary>Returns the maximum number of commands in an atomic batch of <paramref name="batchBytes"/>.</summary>
    public static int BatchCommands(int batchBytes) => Math.Max(batchBytes / BytesPerBatchCommand, 1);
}
