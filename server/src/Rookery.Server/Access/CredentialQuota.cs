using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Records;
using Rookery.Platform;
using Rookery.Server.Raven;

namespace Rookery.Server.Access;

/// <summary>
/// Bounds the size of all tokens and certificates of a cluster. A member reads the version of the record
/// <see cref="Key"/>, counts the credentials, and proposes a new credential together with a change of this version. So
/// if two members count at the same time, only the first proposal in the log is applied, and the other member counts
/// again.
/// </summary>
/// <param name="context">State that the routes share.</param>
/// <param name="queue">Admits the requests of this node one by one.</param>
internal sealed class CredentialQuota(ServerContext context, SemaphoreSlim queue)
{
    /// <summary>Key of the record that each new credential replaces.</summary>
    private const string Key = ClusterRecordPrefix.CredentialQuota;

    // Every member keeps all credentials in memory, in several times as many bytes. Thousands of ordinary credentials
    // fit.
    private const int MaxBytes = 1 << 20;

    // The queue admits one request of this node at a time, so only other members cause further attempts.
    private const int MaxAttempts = 20;

    private static readonly TimeSpan QueueTimeout = TimeSpan.FromSeconds(20);

    /// <summary>Commits the records of one new credential, all or none.</summary>
    /// <param name="records">Adds the records.</param>
    /// <param name="taken">Message if one of the records exists; null for the default.</param>
    /// <exception cref="RefusedException">The records were not stored; 409 if the credentials take too much
    /// room.</exception>
    public async Task CommitAsync(Action<ClusterRecordWriter> records, string? taken)
    {
        if (!await queue.WaitAsync(QueueTimeout, context.Stopping))
        {
            throw Busy();
        }

        try
        {
            for (int attempt = 1; attempt <= MaxAttempts; attempt++)
            {
                await AccessResponse.ReadBarrierAsync(context);

                // The version is read before the credentials are counted, so that a credential that is created after
                // the count makes the write fail.
                long version = context.Node.ClusterRecords.TryGet(Key, out var counted)
                    ? counted.Version
                    : ClusterRecord.Absent;
                RequireRoom();
                using var writer = new ClusterRecordWriter();
                writer.Set(Key, "{}"u8, version);
                records(writer);
                var outcome = await context.Node.Consensus.ProposeAsync(writer.Complete(), CancellationToken.None);
                if (outcome.Rejection is not { } rejection)
                {
                    return;
                }

                if (
                    rejection.Kind != RejectionKind.ConcurrencyConflict
                    || !string.Equals(rejection.DocumentId, Key, StringComparison.Ordinal)
                )
                {
                    throw AccessResponse.Refuse(rejection, taken);
                }
            }
        }
        finally
        {
            queue.Release();
        }

        throw Busy();
    }

    /// <summary>Refuses another credential if the existing ones take as many bytes as a cluster may have.</summary>
    /// <exception cref="RefusedException">There is no room: 409.</exception>
    private void RequireRoom()
    {
        var records = context.Node.ClusterRecords;
        int bytes = records
            .List(ClusterRecordPrefix.Access)
            .Concat(records.List(ClusterRecordPrefix.ClientCertificate))
            .Sum(static record => record.Key.Length + record.Value.Length);
        if (bytes >= MaxBytes)
        {
            throw new RefusedException(
                StatusCodes.Status409Conflict,
                RavenType.RavenException,
                $"The tokens and certificates of this cluster take {Amount.Bytes(bytes)}, the maximum. Revoke "
                    + "some with `rookery token rm` or `rookery cert rm`, or name fewer databases in each."
            );
        }
    }

    private static RefusedException Busy() =>
        new(
            StatusCodes.Status503ServiceUnavailable,
            RavenType.RavenException,
            "Nothing was created: other tokens or certificates were created all the time. Try again in a minute."
        );
}
