using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Attachments;

/// <summary>
/// The low-priority thread that deletes contents without references and scrubs the others, in small pieces with pauses.
/// Starts with the first round of a node that has contents; without work it sleeps.
/// </summary>
/// <param name="contents">The contents.</param>
/// <param name="time">The clock.</param>
internal sealed class ContentMaintenance(AttachmentContents contents, TimeProvider time) : IDisposable
{
    private const int FilesPerPiece = 16;
    private const int ContentsPerRound = 128; // so a million contents take about a day and a half

    // The same rate as for runs: 32 GB are read in three days.
    private const int ScrubBytesPerRound = 2 << 20;

    private readonly object _gate = new();
    private Thread? _thread;
    private bool _isRoundDue;
    private volatile bool _isStopping;

    /// <summary>Limits the share of a core that the thread uses.</summary>
    public DutyCyclePacer Pacer { get; } = new(time);

    /// <summary>Begins a round, unless one runs.</summary>
    public void BeginRound()
    {
        if (!contents.HasFiles)
        {
            return;
        }

        lock (_gate)
        {
            _isRoundDue = true;
            if (_thread is null && !_isStopping)
            {
                _thread = new Thread(Run)
                {
                    Name = "attachments upkeep",
                    IsBackground = true,
                    Priority = ThreadPriority.BelowNormal,
                };
                _thread.Start();
            }

            Monitor.Pulse(_gate);
        }
    }

    /// <summary>Ends the thread after the file that it is working on.</summary>
    public void Dispose()
    {
        Thread? thread;
        lock (_gate)
        {
            _isStopping = true;
            thread = _thread;
            Monitor.Pulse(_gate);
        }

        Pacer.Dispose(); // ends its pauses
        thread?.Join();
    }

    /// <summary>Runs one round: collects all garbage, then scrubs a part of the contents.</summary>
    internal void DoRound()
    {
        Pacer.BeginPiece();
        contents.Garbage.ReleaseEnded();
        while (!_isStopping && contents.Garbage.Collect(FilesPerPiece))
        {
            Pacer.Yield(bytes: 0, urgent: false);
        }

        if (Pacer.IsPaused)
        {
            return; // the board is hot
        }

        for (int seen = 0; !_isStopping && seen < ContentsPerRound; seen += FilesPerPiece)
        {
            if (!contents.Scrub.CheckPresence(FilesPerPiece))
            {
                break;
            }

            Pacer.Yield(bytes: 0, urgent: false);
        }

        var buffer = PooledMemory.Rent(ContentFormat.ChunkBytes);
        try
        {
            for (int bytes = 0; !_isStopping && bytes < ScrubBytesPerRound; bytes += ContentFormat.ChunkBytes)
            {
                if (contents.Scrub.ReadChunk(buffer.Span) is not { } read)
                {
                    break;
                }

                Pacer.Yield(read, urgent: false);
            }
        }
        finally
        {
            buffer.Return();
        }
    }

    private void Run()
    {
        while (WaitForRound())
        {
            try
            {
                DoRound();
            }
            catch (Exception failure) when (failure is IOException or ObjectDisposedException)
            {
                // A disk operation failed, or the node stops. The next round tries again.
            }
        }
    }

    private bool WaitForRound()
    {
        lock (_gate)
        {
            while (!_isStopping && !_isRoundDue)
            {
                Monitor.Wait(_gate);
            }

            _isRoundDue = false;
            return !_isStopping;
        }
    }
}
