using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Nodes;
using Rookery.Documents.Revisions;
using Rookery.Documents.Schedules;
using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Schedules;

/// <summary>The leader's rounds that expire, refresh and archive documents, as databases configure them.</summary>
public sealed class ScheduledWorkTests : IDisposable
{
    private const string Soon = "2026-01-01T00:01:00.0000000Z";
    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);

    private readonly SimulatedDisk _disk = new("/data");
    private readonly SimulatedTimeProvider _time = new(new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero));
    private SteppedNode _node;
    private ScheduledWork _work;

    public ScheduledWorkTests()
    {
        _node = SteppedNode.Open(_disk, "/data/node", _time);
        _node.CreateDatabase("Shop");
        _work = new ScheduledWork(_node.Core.Databases, _node.Consensus, _time);
    }

    public void Dispose() => _node.Dispose();

    [Fact]
    public async Task Without_a_configuration_documents_expire_and_are_not_refreshed_or_archived()
    {
        Put("gone", $"\"@expires\":\"{Soon}\"");
        Put("kept", $"\"@refresh\":\"{Soon}\",\"@archive-at\":\"{Soon}\"");
        long etag = EtagOf("kept");
        _time.Advance(Minute);
        await RunAsync();
        Assert.Equal(["kept"], _node.Documents("Shop").Keys);
        Assert.Equal(etag, EtagOf("kept"));
        Assert.Equal($"\"@refresh\":\"{Soon}\",\"@archive-at\":\"{Soon}\"", MetadataOf("kept"));
    }

    [Fact]
    public async Task Disabled_expiration_deletes_nothing_until_it_is_enabled()
    {
        Configure("expiration", """{"Disabled":true}""");
        Put("a", $"\"@expires\":\"{Soon}\"");
        _time.Advance(2 * Minute);
        await RunAsync();
        Assert.Equal(["a"], _node.Documents("Shop").Keys);

        Configure("expiration", """{"Disabled":false}""");
        await RunAsync();
        Assert.Empty(_node.Documents("Shop"));
    }

    [Fact]
    public async Task A_round_changes_at_most_as_many_documents_as_configured()
    {
        foreach (string name in (string[])["expiration", "refresh", "data-archival"])
        {
            Configure(name, """{"Disabled":false,"MaxItemsToProcess":2}""");
        }

        for (int i = 0; i < 5; i++)
        {
            Put($"e/{i}", $"\"@expires\":\"{Soon}\"");
            Put($"r/{i}", $"\"@refresh\":\"{Soon}\"");
            Put($"a/{i}", $"\"@archive-at\":\"{Soon}\"");
        }

        for (int left = 5; left > -1; left -= 2)
        {
            Assert.Equal(Math.Max(left, 0), _node.Documents("Shop").Keys.Count(static id => id[0] == 'e'));
            Assert.Equal(Math.Max(left, 0), CountWith("r/", "@refresh"));
            Assert.Equal(Math.Max(left, 0), CountWith("a/", "@archive-at"));
            _time.Advance(Minute);
            await RunAsync();
        }

        Assert.Equal(5, CountWith("a/", "\"@archived\":true"));
    }

    [Fact]
    public async Task Work_is_done_as_often_as_configured()
    {
        Configure("refresh", """{"RefreshFrequencyInSec":180}""");
        Configure("data-archival", """{"Disabled":false,"ArchiveFrequencyInSec":5,"MaxItemsToProcess":null}""");
        Assert.Equal(TimeSpan.FromSeconds(5), _work.FindInterval(Minute));
        await RunAsync(TimeSpan.FromSeconds(5));
        Put("r", $"\"@refresh\":\"{Soon}\"");
        Put("a", $"\"@archive-at\":\"{Soon}\"");
        _time.Advance(Minute);
        await RunAsync(TimeSpan.FromSeconds(5));
        Assert.Equal("\"@archived\":true", MetadataOf("a"));
        Assert.Contains("@refresh", MetadataOf("r"), StringComparison.Ordinal);
        _time.Advance(2 * Minute);
        await RunAsync(TimeSpan.FromSeconds(5));
        Assert.Equal("", MetadataOf("r"));
    }

    [Fact]
    public async Task A_refresh_removes_its_time_and_gives_the_document_a_new_version()
    {
        Configure("refresh", """{"Disabled":false,"RefreshFrequencyInSec":null,"MaxItemsToProcess":null}""");
        Put("a", $"\"mine\":[1],\"@refresh\":\"{Soon}\",\"@expires\":\"2027-01-01T00:00:00Z\",\"z\":null");
        long etag = EtagOf("a");
        await RunAsync();
        Assert.Equal(etag, EtagOf("a"));

        _time.Advance(Minute);
        await RunAsync();
        Assert.True(EtagOf("a") > etag);
        Assert.Equal("\"mine\":[1],\"@expires\":\"2027-01-01T00:00:00Z\",\"z\":null", MetadataOf("a"));
        Assert.Equal("\"n\":1", _node.Documents("Shop")["a"]);

        etag = EtagOf("a");
        _time.Advance(2 * Minute);
        await RunAsync();
        Assert.Equal(etag, EtagOf("a"));
    }

    [Fact]
    public async Task A_document_that_changed_since_the_command_was_made_is_kept()
    {
        Configure("refresh", """{"Disabled":false}""");
        Put("a", $"\"@refresh\":\"{Soon}\"");
        _time.Advance(Minute);
        byte[] from = [];
        var command = ScheduledWork.NextCommand(
            _node.Database("Shop"),
            ScheduleKind.Refresh,
            _time.GetUtcNow().UtcTicks,
            ref from,
            out int count
        )!;
        Assert.Equal(1, count);
        Put("a", "\"@refresh\":\"2026-02-01T00:00:00Z\"");
        long etag = EtagOf("a");
        long forIndexes = _node.Database("Shop").LastEtagForIndexes;
        _node.Run(command);
        Assert.Equal(etag, EtagOf("a"));
        Assert.Equal(forIndexes, _node.Database("Shop").LastEtagForIndexes);

        _time.Advance(TimeSpan.FromDays(40));
        await RunAsync();
        Assert.Equal("", MetadataOf("a"));
    }

    [Fact]
    public void A_command_changes_fewer_documents_whose_revisions_contain_many_counters()
    {
        const int Counters = 3000; // each is a look-up in apply
        uint database = _node.Database("Shop").Number;
        Configure("refresh", """{"Disabled":false}""");
        _node.Run(CommandEncoder.ConfigureRevisions(database, new RevisionsConfiguration(new RevisionRule(), [])));
        for (int i = 0; i < 3; i++)
        {
            Put($"d/{i}", $"\"@refresh\":\"{Soon}\"");
            var counters = new CounterOperationList(FormatLevel.Newest);
            for (int counter = 0; counter < Counters; counter++)
            {
                counters.Add(OperationKind.CounterIncrement, Encoding.UTF8.GetBytes($"c{counter}"), delta: 1);
            }

            using var batch = new BatchWriter(CommandKind.Batch, database);
            batch.Counters(Encoding.UTF8.GetBytes($"d/{i}"), counters);
            _node.Run(batch.Complete());
        }

        byte[] from = [];
        long due = _time.GetUtcNow().UtcTicks + TimeSpan.TicksPerHour;
        ScheduledWork
            .NextCommand(_node.Database("Shop"), ScheduleKind.Refresh, due, ref from, out int count)!
            .Dispose();
        Assert.Equal(2, count);
    }

    [Fact]
    public async Task Documents_that_are_older_than_the_configuration_are_refreshed_and_archived()
    {
        for (int i = 0; i < 5000; i++)
        {
            Put($"plain/{i}", "");
        }

        Put("a", $"\"@archive-at\":\"{Soon}\",\"@archived\":false");
        Put("z", $"\"@refresh\":\"{Soon}\"");
        _node.Flush();
        Configure("refresh", """{"Disabled":false}""");
        Configure("data-archival", """{"Disabled":false}""");
        _time.Advance(Minute);
        await RunAsync();
        Assert.Equal("\"@archived\":true", MetadataOf("a"));
        Assert.Equal("", MetadataOf("z"));
        var progress = _node.Database("Shop").Configurations.Find("schedule-progress");
        Assert.Equal("true"u8, progress.Json.Span);
        long record = _node.Database("Shop").RecordEtag;
        _time.Advance(Minute);
        await RunAsync();
        Assert.Equal(progress.Etag, _node.Database("Shop").Configurations.Find("schedule-progress").Etag);
        Assert.Equal(record, _node.Database("Shop").RecordEtag);
    }

    [Fact]
    public async Task Large_documents_and_counters_survive_an_archival_and_a_restart()
    {
        Configure("data-archival", """{"Disabled":false}""");
        string text = new('x', 200_000);
        _node.Put("Shop", "large", $$"""{"t":"{{text}}","@metadata":{"@archive-at":"{{Soon}}"} }""");
        var counters = new CounterOperationList(Documents.Nodes.FormatLevel.Newest);
        counters.Add(OperationKind.CounterIncrement, "likes"u8, 3);
        using (var writer = new BatchWriter(CommandKind.Batch, _node.Database("Shop").Number))
        {
            writer.Counters("large"u8, counters);
            _node.Run(writer.Complete());
        }

        counters.Release();
        _time.Advance(Minute);
        await RunAsync();
        _node.Dispose();
        _node = SteppedNode.Open(_disk, "/data/node", _time);
        _work = new ScheduledWork(_node.Core.Databases, _node.Consensus, _time);
        Assert.Equal("\"@archived\":true", MetadataOf("large"));
        Assert.Equal($"\"t\":\"{text}\"", _node.Documents("Shop")["large"]);
        using var reader = _node.Database("Shop").OpenReader();
        Assert.Equal(3, reader.ReadCounter("large"u8, "likes"u8, out _));
    }

    [Fact]
    public async Task Nothing_happens_in_a_disabled_database_until_it_is_enabled()
    {
        Configure("refresh", """{"Disabled":false}""");
        Put("e", $"\"@expires\":\"{Soon}\"");
        Put("r", $"\"@refresh\":\"{Soon}\"");
        Configure("disabled", "true");
        _time.Advance(Minute);
        await RunAsync();
        Assert.Equal(["e", "r"], _node.Documents("Shop").Keys);
        Assert.Contains("@refresh", MetadataOf("r"), StringComparison.Ordinal);

        Configure("disabled", "false");
        _time.Advance(Minute);
        await RunAsync();
        Assert.Equal(["r"], _node.Documents("Shop").Keys);
        Assert.Equal("", MetadataOf("r"));
    }

    [Theory]
    [InlineData("\"@refresh\":\"no date\"", 0)]
    [InlineData("\"@refresh\":12", 0)]
    [InlineData("\"a\":{\"@refresh\":\"2026-01-01T00:00:00Z\"}", 0)]
    [InlineData("\"a\":\"\\\"@refresh\\\":\",\"@refresh\":\"0001-01-01T00:00:01Z\"", 10_000_000)]
    [InlineData("\"@refresh\":\"0001-01-01T00:00:00Z\"", 0)]
    public void Only_a_date_of_the_metadata_itself_is_a_time(string metadata, long ticks) =>
        Assert.Equal(ticks, ScheduledTimes.Read(Encoding.UTF8.GetBytes(metadata), ScheduleKind.Refresh));

    [Theory]
    [InlineData("\"@archived\":true", true)]
    [InlineData("\"a\":1,\"@archived\":true,\"b\":2", true)]
    [InlineData("\"@archived\":false", false)]
    [InlineData("\"a\":{\"@archived\":true}", false)]
    [InlineData("\"a\":{\"@archived\":true},\"@archived\":\"true\"", false)]
    public void Only_true_in_the_metadata_itself_marks_an_archived_document(string metadata, bool isArchived) =>
        Assert.Equal(isArchived, ScheduledTimes.IsArchived(Encoding.UTF8.GetBytes(metadata)));

    // Tasks complete inline within Commit. The test's synchronization context would continue on another thread, so the
    // work runs without it. Registering yields between its parts, so the work is committed until it is complete.
    private Task RunAsync(TimeSpan? interval = null) =>
        Task.Run(async () =>
        {
            var done = _work.RunOnceAsync(interval ?? Minute, CancellationToken.None);
            while (!done.IsCompleted)
            {
                _node.Commit();
                await Task.Yield();
            }

            await done;
        });

    private void Configure(string name, string json) =>
        _node.Run(CommandEncoder.SetConfiguration(_node.Database("Shop").Number, name, Encoding.UTF8.GetBytes(json)));

    private void Put(string id, string metadata) => _node.Put("Shop", id, $$"""{"n":1,"@metadata":{{{metadata}}} }""");

    private int CountWith(string prefix, string text)
    {
        using var reader = _node.Database("Shop").OpenReader();
        using var cursor = reader.SeekByIdPrefix(Encoding.UTF8.GetBytes(prefix));
        int count = 0;
        while (cursor.MoveNext())
        {
            count += cursor.View.Metadata.IndexOf(Encoding.UTF8.GetBytes(text)) >= 0 ? 1 : 0;
        }

        return count;
    }

    private string MetadataOf(string id)
    {
        using var reader = _node.Database("Shop").OpenReader();
        Assert.True(reader.TryGetDocument(Encoding.UTF8.GetBytes(id), out var document));
        using (document)
        {
            return Encoding.UTF8.GetString(document.View.Metadata);
        }
    }

    private long EtagOf(string id)
    {
        using var reader = _node.Database("Shop").OpenReader();
        Assert.True(reader.TryGetDocument(Encoding.UTF8.GetBytes(id), out var document));
        using (document)
        {
            return document.Etag;
        }
    }
}
