using System.Globalization;
using Rookery.Documents.Attachments;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster.Contents;

/// <summary>Fetches the contents that another member's state names, before that state is installed.</summary>
internal sealed class SnapshotContents(
    ReplicatedContents contents,
    ContentFetcher fetcher,
    IContentPeers peers,
    TimeProvider time
)
{
    private static readonly TimeSpan NoteInterval = TimeSpan.FromSeconds(15);

    /// <summary>Receives a sentence about the progress of a long fetch.</summary>
    public Action<string>? Note { get; set; }

    /// <summary>
    /// Prevents the deletion of contents until the result is disposed, because no row names the fetched contents yet.
    /// </summary>
    public IDisposable Hold() => contents.Hold();

    /// <summary>
    /// Requests a comparison of all contents with the rows, because another member's state was installed.
    /// </summary>
    public void RequestSweep() => contents.RequestSweep();

    /// <summary>
    /// Fetches the contents that a member's rows name now and this node lacks. Contents that the member has released
    /// meanwhile are not needed: one of the entries after the state releases them here too.
    /// </summary>
    /// <param name="from">The member that offers its state.</param>
    /// <param name="through">The applied index of the state; the listing must be at least as new.</param>
    /// <param name="cancellationToken">Cancels the fetch. What has arrived stays for the next attempt.</param>
    /// <exception cref="IOException">A content cannot be fetched now. Try again later.</exception>
    public async Task FetchAsync(NodeId from, long through, CancellationToken cancellationToken)
    {
        long startedAt = time.GetTimestamp();
        long notedAt = startedAt;
        long seen = 0;
        long fetched = 0;
        long bytes = 0;
        ContentName? after = null;
        while (true)
        {
            var page = await peers.ListAsync(from, after, cancellationToken);
            if (page.AppliedIndex < through)
            {
                throw new IOException(
                    $"It lists its attachments as of entry {page.AppliedIndex}, before its state through {through}."
                );
            }

            if (page.Names.Count == 0)
            {
                return;
            }

            foreach (var name in page.Names)
            {
                cancellationToken.ThrowIfCancellationRequested();
                seen++;
                if (!await contents.CheckAsync(name))
                {
                    await FetchAsync(name, from, page.AppliedIndex);
                    fetched++;
                    bytes += name.Size;
                }

                if (time.GetElapsedTime(notedAt) > NoteInterval)
                {
                    notedAt = time.GetTimestamp();
                    Note?.Invoke(
                        string.Create(
                            CultureInfo.InvariantCulture,
                            $"This node fetches the attachments before the state that names them: {seen} are here, "
                                + $"{Amount.Bytes(bytes)} of {fetched} arrived in "
                                + $"{time.GetElapsedTime(startedAt).TotalSeconds:0} s."
                        )
                    );
                }
            }

            after = page.Names[^1];
        }
    }

    private async Task FetchAsync(ContentName name, NodeId from, long listedAt)
    {
        var end = await fetcher.FetchAsync(name, from);
        if (end.IsHere || end.GoneThrough >= listedAt)
        {
            return;
        }

        if (!end.IsNowhere)
        {
            throw new IOException(
                $"The content {name.Hash.ToHex()} of an attachment cannot be fetched: {end.Trouble} What has arrived "
                    + "is kept."
            );
        }

        // Waiting would bring no copy back, and would leave the cluster without this member.
        contents.ReportLost(name);
    }
}
