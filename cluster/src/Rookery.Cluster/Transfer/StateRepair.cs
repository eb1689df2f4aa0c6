using System.Net;
using Rookery.Documents.Nodes;
using Rookery.Documents.Transfer;
using Rookery.Storage.Repair;

namespace Rookery.Cluster.Transfer;

/// <summary>
/// Repairs damaged runs of this node with rows of another member. Fetches the rows of the damaged key range, waits
/// until this node's manifest has reached the log position of the rows, then rewrites the file.
/// </summary>
/// <param name="store">This node's data.</param>
/// <param name="onBackgroundThread">Runs an action on the background thread, between two of its steps.</param>
/// <param name="time">The clock.</param>
public sealed class StateRepair(NodeStore store, Func<Action, Task> onBackgroundThread, TimeProvider time)
{
    private const int PieceBytes = 64 * 1024;

    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(100);

    // The other member has applied the entries that the rows contain, so this node normally receives them soon.
    private static readonly TimeSpan Timeout = TimeSpan.FromMinutes(2);

    /// <summary>Repairs all known damage. Costs nothing when there is none.</summary>
    /// <param name="member">A client for another member, preferably one that does not lag.</param>
    /// <param name="cancellationToken">Cancels the repair. Finished repairs stay.</param>
    /// <returns>The number of repaired files.</returns>
    /// <exception cref="StateTransferException">The member does not have the rows, or this node does not reach their
    /// log position.</exception>
    /// <exception cref="IOException">The rows arrived damaged, or the disk failed. Try again later, perhaps with
    /// another member.</exception>
    public async Task<int> RunAsync(HttpClient member, CancellationToken cancellationToken)
    {
        IReadOnlyList<RepairRequest> requests = [];
        await onBackgroundThread(() => requests = store.Storage.Repairs.Find());
        int repaired = 0;
        foreach (var request in requests)
        {
            var rows = await FetchAsync(member, request, cancellationToken);
            await WaitForAsync(rows.Position.Index, cancellationToken);
            bool isDone = false;
            await onBackgroundThread(() => isDone = store.Installation.Repair(request, rows));
            repaired += isDone ? 1 : 0;
        }

        return repaired;
    }

    private async Task<RepairRows> FetchAsync(
        HttpClient member,
        RepairRequest request,
        CancellationToken cancellationToken
    )
    {
        try
        {
            using var answer = await ResponseTimeout.RunAsync(
                ResponseTimeout.BeforeFlushed,
                time,
                ended => member.GetAsync(RowsQuery.PathOf(request), HttpCompletionOption.ResponseHeadersRead, ended),
                cancellationToken
            );
            if (answer.StatusCode != HttpStatusCode.OK || RowsQuery.ReadPosition(answer.Headers) is not { } position)
            {
                throw new StateTransferException(
                    $"{member.BaseAddress} does not give the rows that {request.File} lost: "
                        + $"{await answer.Content.ReadAsStringAsync(cancellationToken)}"
                );
            }

            await using var body = await answer.Content.ReadAsStreamAsync(cancellationToken);
            using var file = store.Inbox.OpenRows(out string path);
            byte[] buffer = new byte[PieceBytes];
            int read = await ReadAsync(body, buffer, cancellationToken);
            while (read > 0)
            {
                file.Append(buffer.AsSpan(0, read));
                read = await ReadAsync(body, buffer, cancellationToken);
            }

            return new RepairRows(path, position);
        }
        catch (Exception failure) when (failure is HttpRequestException or TimeoutException)
        {
            throw new StateTransferException(
                $"{member.BaseAddress} cannot be asked for the rows that {request.File} lost: {failure.Message}",
                failure
            );
        }
    }

    private Task<int> ReadAsync(Stream body, byte[] buffer, CancellationToken cancellationToken) =>
        ResponseTimeout.RunAsync(
            ResponseTimeout.BetweenPieces,
            time,
            ended => body.ReadAsync(buffer, ended).AsTask(),
            cancellationToken
        );

    private async Task WaitForAsync(long index, CancellationToken cancellationToken)
    {
        long startedAt = time.GetTimestamp();
        while (store.DurablePosition.Index < index)
        {
            if (time.GetElapsedTime(startedAt) > Timeout)
            {
                throw new StateTransferException(
                    $"The rows for a repair are of index {index}, and this node has applied only {store.AppliedIndex}."
                );
            }

            if (store.AppliedIndex >= index)
            {
                store.Storage.Memtables.RequestFlush();
            }

            await Task.Delay(PollInterval, time, cancellationToken);
        }
    }
}
