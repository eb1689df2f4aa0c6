using Rookery.Documents.Json;

namespace Rookery.Documents.Commands;

/// <summary>Turns request bodies into commands.</summary>
public static class BatchRequestParser
{
    /// <summary>Parses the body of bulk_docs.</summary>
    /// <param name="body">The whole body.</param>
    /// <param name="database">The database's number.</param>
    /// <param name="key">The request's idempotency key, or none.</param>
    /// <param name="maxBatchBytes">See <see cref="DocumentLimits.BatchBytes"/>.</param>
    /// <param name="batch">The command; its buffer belongs to the caller.</param>
    /// <param name="error">Why it was refused.</param>
    public static bool TryParse(ReadOnlySpan<byte> body, uint database, IdempotencyKey key, int maxBatchBytes, out ParsedBatch batch, out InputError error) => throw new NotSupportedException();

    /// <summary>Parses the body of PATCH docs (<c>{"Patch":{…},"PatchIfMissing":null}</c>) into a batch of one patch.</summary>
    public static bool TryParsePatch(ReadOnlySpan<byte> body, ReadOnlySpan<byte> id, ExpectedChangeVector expected, bool skipOnMismatch, uint database, IdempotencyKey key, out ParsedBatch batch, out InputError error) => throw new NotSupportedException();

    /// <summary>Parses an RFC 7396 merge patch into a batch of one patch.</summary>
    /// <param name="body">The merge patch, an object.</param>
    /// <param name="id">The document.</param>
    /// <param name="expected">What is expected of it.</param>
    /// <param name="createIfMissing">Apply it to an empty document when there is none.</param>
    /// <param name="database">The database's number.</param>
    /// <param name="key">The request's idempotency key, or none.</param>
    /// <param name="batch">The command; its buffer belongs to the caller.</param>
    /// <param name="error">Why it was refused.</param>
    public static bool TryParseMergePatch(ReadOnlySpan<byte> body, ReadOnlySpan<byte> id, ExpectedChangeVector expected, bool createIfMissing, uint database, IdempotencyKey key, out ParsedBatch batch, out InputError error) => throw new NotSupportedException();
}

/// <summary>A batch ready to be proposed.</summary>
/// <param name="Command">The encoded command.</param>
/// <param name="Count">Operations in it.</param>
/// <param name="ClusterWide">The client asked for a cluster-wide transaction: with one linear history every batch is one, and the answer has a TransactionIndex.</param>
public readonly record struct ParsedBatch(CommandBuffer Command, int Count, bool ClusterWide);
