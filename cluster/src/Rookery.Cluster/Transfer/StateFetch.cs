using System.Buffers;
using System.Globalization;
using System.Net;
using System.Net.Http.Headers;
using Rookery.Documents.Transfer;

namespace Rookery.Cluster.Transfer;

/// <summary>The progress of a fetch.</summary>
/// <param name="Bytes">The bytes received.</param>
/// <param name="TotalBytes">The bytes of all files.</param>
public readonly record struct StateFetchProgress(long Bytes, long TotalBytes);

/// <summary>
/// Fetches the state of another member over <see cref="StateRoutes"/> and verifies every byte. After a broken
/// connection it continues at the byte where it stopped. A file that arrived damaged is fetched again. After a restart
/// it continues with the files on disk, as long as the other member still holds the offer.
/// </summary>
/// <param name="member">A client for the other member, with its base address and the credentials that its port
/// requires.</param>
/// <param name="inbox">Receives the files.</param>
/// <param name="time">The clock.</param>
public sealed class StateFetch(HttpClient member, StateInbox inbox, TimeProvider time)
{
    private const int PieceBytes = 64 * 1024;
    private const int MaxOfferBytes = 16 << 20;

    // A member drops an offer when it restarts or runs out of journal space. Give up on a member that drops this many
    // in a row.
    private const int MaxAttempts = 4;

    // The maximum number of consecutive broken connections without a received byte.
    private const int MaxBrokenConnections = 8;

    /// <summary>Invoked with the progress after each 1 MiB.</summary>
    public Action<StateFetchProgress>? Progress { get; init; }

    /// <summary>
    /// Returns the etag through which this node has all changes; null when it needs the whole state. Called once for
    /// each offer.
    /// </summary>
    public Func<long?>? Since { get; init; }

    /// <summary>Returns the applied index of this node. An older state is useless.</summary>
    public Func<long> Through { get; init; } = static () => 0;

    /// <summary>Invoked with each offer before it is fetched.</summary>
    public Action<SnapshotOffer>? Chosen { get; init; }

    /// <summary>
    /// The delay after a broken connection, multiplied by the number of consecutive breaks without a received byte.
    /// </summary>
    internal TimeSpan DelayPerBreak { get; init; } = TimeSpan.FromMilliseconds(250);

    /// <summary>
    /// The maximum time that the other member may take to write an offer. Afterwards this fetch fails, so that the
    /// delay is reported; the other member continues to write the offer.
    /// </summary>
    private static readonly TimeSpan OfferWriteTimeout = TimeSpan.FromMinutes(10);

    /// <summary>The delay between requests for an offer that is being written.</summary>
    internal TimeSpan DelayBetweenRequests { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>Fetches and verifies the state.</summary>
    /// <exception cref="StateTransferException">The member offers no state, its connection broke repeatedly, the data
    /// is damaged, or this node has no space.</exception>
    /// <exception cref="Rookery.Platform.DiskException">The disk failed.</exception>
    /// <exception cref="OperationCanceledException">The caller cancelled.</exception>
    public async Task<FetchedState> RunAsync(CancellationToken cancellationToken)
    {
        for (int attempt = 1; ; attempt++)
        {
            var offer = await GetOfferAsync(cancellationToken);
            Chosen?.Invoke(offer);
            inbox.Begin(offer);
            if (!await FetchFilesAsync(offer, cancellationToken))
            {
                if (attempt == MaxAttempts)
                {
                    throw new StateTransferException(
                        $"{member.BaseAddress} dropped its offer of its state {attempt} times before it was fetched."
                    );
                }

                continue;
            }

            try
            {
                return await Task.Run(() => inbox.Check(offer), cancellationToken);
            }
            catch (StateTransferException) when (attempt < MaxAttempts)
            {
                // The damaged file was deleted; the others are kept.
            }
        }
    }

    private async Task<SnapshotOffer> GetOfferAsync(CancellationToken cancellationToken)
    {
        long startedAt = time.GetTimestamp();

        // Call this once. With a newer etag in each request, the other member would start to write the changes again
        // each time.
        long? since = Since?.Invoke();
        while (true)
        {
            long through = Through();
            if (await AskAsync(PathOfOffer(through, since), cancellationToken) is not { } offer)
            {
                if (time.GetElapsedTime(startedAt) > OfferWriteTimeout)
                {
                    throw new StateTransferException(
                        $"{member.BaseAddress} has not applied entry {through}, or not written its "
                            + $"changes, within {OfferWriteTimeout.TotalMinutes:0} minutes: its log says why."
                    );
                }

                await Task.Delay(DelayBetweenRequests, time, cancellationToken);
            }
            else if (offer.Index >= through)
            {
                return offer;
            }
            else
            {
                // An older version ignores the requested index.
                throw new StateTransferException(
                    $"{member.BaseAddress} offers its state through entry {offer.Index}, and this node has "
                        + $"applied {through}: that member has not flushed the later entries yet."
                );
            }
        }
    }

    private static string PathOfOffer(long through, long? since) =>
        string.Create(CultureInfo.InvariantCulture, $"{StateRoutes.Prefix}/offer?through={through}")
        + (since is { } etag ? string.Create(CultureInfo.InvariantCulture, $"&since={etag}") : string.Empty);

    // Null while the other member is writing the changes, or has not applied far enough.
    private async Task<SnapshotOffer?> AskAsync(string path, CancellationToken cancellationToken)
    {
        try
        {
            using var answer = await ResponseTimeout.RunAsync(
                ResponseTimeout.BeforeOffer,
                time,
                ended => member.GetAsync(path, HttpCompletionOption.ResponseHeadersRead, ended),
                cancellationToken
            );
            if (answer.StatusCode == HttpStatusCode.Accepted)
            {
                return null;
            }

            if (answer.Content.Headers.ContentLength > MaxOfferBytes)
            {
                throw new StateTransferException($"{member.BaseAddress} sent an offer of its state that is too long.");
            }

            byte[] body = await ResponseTimeout.RunAsync(
                ResponseTimeout.BetweenPieces,
                time,
                answer.Content.ReadAsByteArrayAsync,
                cancellationToken
            );
            return answer.StatusCode == HttpStatusCode.OK
                ? SnapshotOffer.Decode(body)
                : throw new StateTransferException(
                    $"{member.BaseAddress} does not offer its state: {System.Text.Encoding.UTF8.GetString(body)}"
                );
        }
        catch (Exception failure) when (failure is HttpRequestException or TimeoutException)
        {
            throw new StateTransferException(
                $"{member.BaseAddress} cannot be asked for its state: {failure.Message}",
                failure
            );
        }
    }

    // False when the member no longer has the offer.
    private async Task<bool> FetchFilesAsync(SnapshotOffer offer, CancellationToken cancellationToken)
    {
        long earlierBytes = 0;
        foreach (var file in offer.Files)
        {
            if (!await FetchFileAsync(offer, file, earlierBytes, cancellationToken))
            {
                return false;
            }

            earlierBytes += file.Bytes;
        }

        return true;
    }

    private async Task<bool> FetchFileAsync(
        SnapshotOffer offer,
        StateFile file,
        long earlierBytes,
        CancellationToken cancellationToken
    )
    {
        long resumeAt = inbox.ResumeAt(file);
        if (resumeAt == file.Bytes && file.Bytes > 0)
        {
            return true;
        }

        using var target = inbox.Open(file, resumeAt);
        int breaks = 0;
        while (true)
        {
            long lengthBefore = target.Length;
            if (!await FetchRestAsync(offer, file, target, earlierBytes, cancellationToken))
            {
                return false;
            }

            if (target.Length == file.Bytes)
            {
                target.Sync();
                return true;
            }

            breaks = target.Length > lengthBefore ? 1 : breaks + 1;
            if (breaks > MaxBrokenConnections)
            {
                throw new StateTransferException(
                    $"{member.BaseAddress} broke off {breaks} times in a row while {file.Name} of its state "
                        + $"was fetched. The fetched part is kept, and the next attempt continues after it."
                );
            }

            inbox.CountResumed();
            await Task.Delay(DelayPerBreak * breaks, time, cancellationToken);
        }
    }

    /// <summary>
    /// Requests a file from its current length on, and appends until the end or until the connection breaks.
    /// </summary>
    /// <returns>False when the member no longer has the offer.</returns>
    private async Task<bool> FetchRestAsync(
        SnapshotOffer offer,
        StateFile file,
        InboxFile target,
        long earlierBytes,
        CancellationToken cancellationToken
    )
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, $"{StateRoutes.Prefix}/{offer.Id}/{file.Name}");
        if (target.Length > 0)
        {
            request.Headers.Range = new RangeHeaderValue(target.Length, to: null);
        }

        HttpResponseMessage? answer = null;
        try
        {
            answer = await ResponseTimeout.RunAsync(
                ResponseTimeout.BetweenPieces,
                time,
                ended => member.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, ended),
                cancellationToken
            );
            if (answer.StatusCode is HttpStatusCode.Gone or HttpStatusCode.NotFound)
            {
                return false;
            }

            long? offset = answer.StatusCode switch
            {
                HttpStatusCode.OK => 0,
                HttpStatusCode.PartialContent => answer.Content.Headers.ContentRange?.From,
                _ => null,
            };
            if (offset == target.Length)
            {
                await using var body = await answer.Content.ReadAsStreamAsync(cancellationToken);
                await CopyAsync(body, file, target, earlierBytes, offer.Bytes, cancellationToken);
            }
        }
        catch (Exception failure) when (failure is HttpRequestException or TimeoutException)
        {
            // Treated like a broken connection: the next request continues from here.
        }
        finally
        {
            answer?.Dispose();
        }

        return true;
    }

    private async Task CopyAsync(
        Stream body,
        StateFile file,
        InboxFile target,
        long earlierBytes,
        long total,
        CancellationToken cancellationToken
    )
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(PieceBytes);
        try
        {
            int read = await ReadAsync(body, buffer, cancellationToken);
            while (read > 0)
            {
                if (read > file.Bytes - target.Length)
                {
                    throw new StateTransferException(
                        $"{member.BaseAddress} sent more of {file.Name} than it had offered."
                    );
                }

                long lengthBefore = target.Length;
                target.Append(buffer.AsSpan(0, read));

                // Report once a MiB (2^20 bytes).
                if (lengthBefore >> 20 != target.Length >> 20 || target.Length == file.Bytes)
                {
                    Progress?.Invoke(new StateFetchProgress(earlierBytes + target.Length, total));
                }

                read = await ReadAsync(body, buffer, cancellationToken);
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }

    // Returns 0 at the end, and when the connection breaks or is silent too long.
    private async Task<int> ReadAsync(Stream body, byte[] buffer, CancellationToken cancellationToken)
    {
        try
        {
            return await ResponseTimeout.RunAsync(
                ResponseTimeout.BetweenPieces,
                time,
                ended => body.ReadAsync(buffer, ended).AsTask(),
                cancellationToken
            );
        }
        catch (Exception failure) when (failure is IOException or HttpRequestException or TimeoutException)
        {
            return 0;
        }
    }
}
