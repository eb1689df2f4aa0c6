using System.Buffers;
using Rookery.Documents.Attachments;
using Rookery.Documents.Databases;
using Rookery.Server.Raven.Attachments;

namespace Rookery.Server.Raven.Smuggler;

/// <summary>
/// Stores the contents of attachments in a dump, and keeps them pinned until the import ends, because documents that
/// come later may name them.
/// </summary>
internal sealed class DumpedContents(ServerContext context, Database database, SmugglerOperation operation)
    : IDisposable
{
    // A pin takes about 200 bytes.
    private const int MaxContents = 128 << 10;

    private readonly ReceivedContents _received = new(context);
    private readonly Dictionary<string, PinnedContent> _byHash = new(StringComparer.Ordinal);

    /// <summary>Finds a content by its hash in base64.</summary>
    public PinnedContent? Find(string hash) => _byHash.GetValueOrDefault(hash);

    /// <summary>Receives the bytes that follow in the dump.</summary>
    /// <exception cref="RefusedException">The content was not accepted.</exception>
    public async Task ReceiveAsync(DumpReader dump, string hash, long size)
    {
        if (_byHash.Count >= MaxContents)
        {
            throw new RefusedException(
                Microsoft.AspNetCore.Http.StatusCodes.Status413PayloadTooLarge,
                RavenType.BadRequest,
                $"The dump has more than {MaxContents} different attachments. What came before is stored; export the "
                    + "collections one after the other."
            );
        }

        PinnedContent? content = null;
        try
        {
            using var upload = await _received.RequireSupport().BeginAsync(database.Number, size);
            await dump.TakeRawAsync(size, piece => upload.WriteAsync(new ReadOnlySequence<byte>(piece)));
            content = await upload.CompleteAsync();
        }
        catch (Exception failure) when (_received.Explain(failure) is not null)
        {
            throw _received.Explain(failure)!;
        }

        bool isRight = string.Equals(content.Hash.ToString(), hash, StringComparison.Ordinal);
        if (!isRight)
        {
            operation.Attachments.Fail();
            operation.Tell($"The bytes of the attachments with the hash {hash} do not have this hash: not stored.");
        }

        if (!isRight || !_byHash.TryAdd(hash, content))
        {
            content.Dispose();
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        foreach (var content in _byHash.Values)
        {
            content.Dispose();
        }

        _byHash.Clear();
    }
}
