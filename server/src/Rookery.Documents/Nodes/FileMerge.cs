using Rookery.Storage;

namespace Rookery.Documents.Nodes;

/// <summary>Merges all files of a node on the thread of its background work, and waits for the end.</summary>
internal sealed class FileMerge(NodeStore store)
{
    // Failed attempts in a row. The maintenance thread pauses for a second before each new attempt.
    private const int FailuresToGiveUp = 3;

    private static readonly TimeSpan CheckInterval = TimeSpan.FromMilliseconds(200);

    /// <summary>Merges all files. See <see cref="Node.MergeFilesAsync"/>.</summary>
    public async Task RunAsync(CancellationToken ending)
    {
        await DoAsync(static storage => storage.BeginFullMerge());
        try
        {
            if (await WaitAsync(ending) is { } problem)
            {
                throw new FileMergeException("Not all files were merged. " + problem);
            }
        }
        catch (Exception failure) when (failure is OperationCanceledException or FileMergeException)
        {
            await DoAsync(static storage => storage.CancelFullMerge());
            throw;
        }
    }

    // Returns why files remain unmerged; null if none do.
    private async Task<string?> WaitAsync(CancellationToken ending)
    {
        int failures = 0;
        long? lastCount = null;
        while (true)
        {
            var (isPending, failure, count, gap) = await store.Background.DoAsync(() =>
                (
                    store.Storage.IsFullMergePending,
                    store.Storage.Failure,
                    store.Storage.FailureCount,
                    store.Storage.FullMergeGap
                )
            );
            if (!isPending && failure is null)
            {
                return gap;
            }

            // While merges are paused, the failure stays without another attempt.
            failures = failure is null ? 0 : failures + (count == lastCount ? 0 : 1);
            lastCount = count;
            if (failures == FailuresToGiveUp)
            {
                return failure;
            }

            await Task.Delay(CheckInterval, store.Time, ending);
        }
    }

    private Task<bool> DoAsync(Action<StorageEngine> work) =>
        store.Background.DoAsync(() =>
        {
            work(store.Storage);
            return true;
        });
}
