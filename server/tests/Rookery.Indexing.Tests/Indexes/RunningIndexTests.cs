using System.Globalization;
using Rookery.Documents.Indexes;
using Rookery.Fixtures;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Values;
using Rookery.Search.Segments.Store;
using Rookery.Simulation;

namespace Rookery.Indexing.Tests.Indexes;

/// <summary>Errors of an index whose definition cannot map some documents.</summary>
public sealed class RunningIndexTests : IDisposable
{
    private readonly IndexedNode _node = IndexedNode.New();

    [Fact]
    public void A_failing_document_is_an_error_and_its_earlier_entry_is_removed()
    {
        using var index = NewIndex();
        Feed(index, "ok", "\"n\":1");
        Feed(index, "bad", "\"n\":1");
        index.WriteBuffered();
        Feed(index, "bad", "\"fails\":1");
        index.WriteBuffered();
        Assert.Equal(["ok"], StoreContents.Of(index.Store).Keys);
        var error = Assert.Single(index.Errors.List());
        Assert.Equal(
            ("bad", "Map", "It fails.", _node.Time.GetUtcNow()),
            (error.DocumentId, error.Action, error.Message, error.Time)
        );
        Assert.Equal(IndexState.Normal, index.State);
    }

    [Fact]
    public void The_last_errors_are_kept_and_all_are_counted()
    {
        var errors = new IndexErrors();
        for (int i = 0; i < IndexErrors.Capacity + 7; i++)
        {
            errors.Add(new IndexError(default, i.ToString(CultureInfo.InvariantCulture), "Map", "It fails."));
        }

        Assert.Equal(IndexErrors.Capacity + 7, errors.Count);
        Assert.Equal(IndexErrors.Capacity, errors.List().Count);
        Assert.Equal("7", errors.List()[0].DocumentId);
    }

    [Fact]
    public void An_index_that_fails_too_often_stops_and_reports_it()
    {
        var reasons = new List<string>();
        using var index = NewIndex(stopped: reasons.Add);
        for (int i = 0; i < 99; i++)
        {
            Feed(index, $"d/{i}", i % 6 == 0 ? "\"fails\":1" : "\"n\":1");
        }

        Assert.Equal(IndexState.Normal, index.State);
        Feed(index, "last", "\"fails\":1");
        Feed(index, "of the same pass", "\"fails\":1");
        Assert.Equal((IndexState.Error, 18), (index.State, index.Errors.Count));
        Assert.StartsWith("18 of 100 documents", Assert.Single(reasons), StringComparison.Ordinal);

        // Entries from before the stop are still written, now or once the disk accepts them; that must not clear the
        // error.
        index.AdvanceTo(1, 101, isConsistent: true);
        index.SetTrouble("The disk is full.");
        index.WriteBuffered();
        Assert.Equal((reasons[0], 0), (index.ReadStatus(0, null).Trouble, index.VisibleEtag));
    }

    [Fact]
    public void Only_documents_that_fail_count_towards_the_stop_of_an_index()
    {
        using var index = NewIndex();
        for (int i = 0; i < 120; i++)
        {
            Feed(index, $"d/{i}", i < 2 ? "\"fails\":1" : "\"n\":1");
            index.Errors.Add(new IndexError(default, "", "Reduce", "The group cannot be reduced."));
        }

        Feed(index, "last", "\"fails\":1");
        Assert.Equal((IndexState.Normal, 123), (index.State, index.Errors.Count));
    }

    [Fact]
    public void One_document_that_fails_again_and_again_does_not_stop_a_large_index()
    {
        using var node = IndexedNode.New();
        node.Define("""{"Maps":["from u in docs.Users select new { n = (int)u.n }"]}""", "numbers");
        for (int i = 0; i < 1000; i++)
        {
            node.Put($"users/{i}", $"\"n\":{i}");
        }

        node.SettleAll();
        using var restarted = node.Restart();
        for (int i = 0; i < 100; i++)
        {
            restarted.Put("users/0", $"\"n\":\"x{i}\"");
            restarted.SettleAll();
        }

        Assert.Equal(100, restarted.Host.ReadErrors(restarted.Database(), "numbers").Count);
        Assert.Equal(IndexState.Normal, restarted.Status("numbers").State);
    }

    [Fact]
    public void Clearing_the_errors_does_not_hide_failed_documents_from_the_stop_of_an_index()
    {
        var reasons = new List<string>();
        using var index = NewIndex(stopped: reasons.Add);
        for (int i = 0; i < 99; i++)
        {
            Feed(index, $"d/{i}", i % 6 == 0 ? "\"fails\":1" : "\"n\":1");
        }

        index.Errors.Clear();
        Feed(index, "last", "\"fails\":1");
        Assert.Equal((IndexState.Error, 1), (index.State, index.Errors.Count));
        Assert.StartsWith("18 of 100 documents", Assert.Single(reasons), StringComparison.Ordinal);
    }

    /// <summary>The clock stands still: only the stop ends the wait.</summary>
    [Fact]
    public async Task A_patient_wait_ends_when_the_index_stops_just_before_the_wait_begins()
    {
        using var index = NewIndex();
        var waiting = index.Waits.WaitAsync(1, TimeSpan.FromHours(1), CancellationToken.None, JudgeAndStop);
        Assert.False(await waiting.WaitAsync(TimeSpan.FromMinutes(1)));
        Assert.False(index.IsAwaited);

        bool JudgeAndStop()
        {
            bool mayGoOn = !index.HasStopped;
            for (int i = 0; i < 100; i++)
            {
                Feed(index, $"d/{i}", "\"fails\":1");
            }

            return mayGoOn;
        }
    }

    [Fact]
    public void An_index_whose_files_are_damaged_while_it_runs_is_rebuilt()
    {
        using var index = NewIndex(cacheBytes: 0);
        Feed(index, "a", "\"n\":1");
        index.AdvanceTo(1, 1, isConsistent: true);
        index.WriteBuffered();
        Assert.Equal(1, index.VisibleEtag);
        string segment = Assert.Single(
            _node.Disk.List("/data"),
            static name => name.StartsWith("segment-", StringComparison.Ordinal)
        );
        _node.Disk.Rot(Path.Join("/data", segment), 20, 1);
        Feed(index, "a", "\"n\":2");
        index.AdvanceTo(2, 1, isConsistent: true);
        index.WriteBuffered();
        Assert.True(index.IsResetRequested);
        Assert.Equal(0, index.VisibleEtag);
        Assert.Contains("rebuilt", index.ReadStatus(2, null).Trouble, StringComparison.Ordinal);
    }

    [Fact]
    public void Progress_shows_the_remaining_documents_and_time()
    {
        var time = new SimulatedTimeProvider();
        var meter = new ProgressMeter(time);
        meter.Begin();
        Assert.Null(meter.Read(100).TimeLeft);
        Assert.Equal(TimeSpan.Zero, meter.Read(0).TimeLeft);
        for (int i = 0; i < 20; i++)
        {
            time.Advance(TimeSpan.FromSeconds(1));
            meter.Add(50);
            meter.Measure();
        }

        var progress = meter.Read(500);
        Assert.Equal((1000, 1500), (progress.Done, progress.Total));
        Assert.Equal(50, progress.PerSecond, 3);
        Assert.Equal(10, progress.TimeLeft!.Value.TotalSeconds, 3);
    }

    public void Dispose() => _node.Dispose();

    private RunningIndex NewIndex(long cacheBytes = 1 << 20, Action<string>? stopped = null)
    {
        var record = new IndexRecord
        {
            Name = "a",
            Number = 1,
            Definition = default,
            Settings = default,
            Version = 1,
        };
        return new RunningIndex(
            record,
            new PickyMap(),
            SegmentStore.Open(StoreContents.ContextOf(_node.Disk, cacheBytes), "/data"),
            _node.Time,
            _node.Store.HasReapplied
        )
        {
            Stopped = (_, reason) => stopped?.Invoke(reason),
        };
    }

    private void Feed(RunningIndex index, string id, string members)
    {
        _node.Put(id, members);
        using var reader = _node.Database().OpenReader();
        Assert.True(reader.TryGetDocument(System.Text.Encoding.UTF8.GetBytes(id), out var document));
        using (document)
        {
            index.Feed(
                System.Text.Encoding.UTF8.GetBytes(id),
                new QueriedDocument(
                    document.View,
                    document.Etag,
                    System.Text.Encoding.ASCII.GetBytes(_node.Database().HistoryId)
                )
            );
        }
    }

    /// <summary>Maps every document to one term, and fails if it has a member "fails".</summary>
    private sealed class PickyMap : IIndexMap
    {
        public IReadOnlyList<string> Collections => [];

        public IReadOnlyList<MappedField> Fields => [];

        public IReadOnlyList<string> LoadedCollections => [];

        public void Map(in QueriedDocument document, IndexEntry entry)
        {
            entry.Add(0, "x"u8);
            if (document.Members.IndexOf("fails"u8) >= 0)
            {
                throw new IndexEntryException("It fails.");
            }
        }
    }
}
