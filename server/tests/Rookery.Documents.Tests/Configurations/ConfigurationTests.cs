using System.Globalization;
using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Documents.Revisions;
using Rookery.Documents.Subscriptions;
using Rookery.Documents.Tests.Backups;
using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Configurations;

/// <summary>The configurations of databases and of the server as apply keeps them.</summary>
public sealed class ConfigurationTests : IDisposable
{
    private readonly SimulatedDisk _disk = new("/data");
    private SteppedNode _node;

    public ConfigurationTests()
    {
        _node = SteppedNode.Open(_disk, BackedUp.Node);
        _node.CreateDatabase("Shop");
        _node.CreateDatabase("Other");
    }

    public void Dispose() => _node.Dispose();

    [Fact]
    public void A_configuration_belongs_to_its_database_and_raises_the_etag_of_the_record()
    {
        long before = _node.Database("Shop").RecordEtag;
        long first = Set("expiration", """{"Disabled":false}""")[0].Etag;
        long second = Set("refresh", "{}")[0].Etag;
        Assert.True(before < first && first < second);
        Assert.Equal("""{"Disabled":false}""", Read("expiration"));
        Assert.Equal(second, _node.Database("Shop").RecordEtag);
        Assert.Equal(first, _node.Database("Shop").Configurations.Find("expiration").Etag);
        Assert.False(_node.Database("Other").Configurations.Find("expiration").IsSet);
        Assert.Equal(0, _node.Core.Databases.ServerConfigurations.Count);

        _node.Run(CommandEncoder.SetConfiguration(database: 0, "client", "{}"u8));
        Assert.True(_node.Core.Databases.ServerConfigurations.Find("client").IsSet);
        Assert.False(_node.Database("Shop").Configurations.Find("client").IsSet);
    }

    [Fact]
    public void Null_removes_a_configuration_and_raises_the_etag()
    {
        long set = Set("client", "{}")[0].Etag;
        Set("client", "null");
        var removed = _node.Database("Shop").Configurations.Find("client");
        Assert.False(removed.IsSet);
        Assert.True(removed.Etag > set);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Configurations_survive_a_restart_from_the_journal_and_from_runs(bool isFlushed)
    {
        Set("expiration", "1");
        Set("expiration", "2");
        _node.Run(CommandEncoder.SetConfiguration(database: 0, "client", "3"u8));
        long etag = _node.Database("Shop").RecordEtag;
        if (isFlushed)
        {
            _node.Flush();
        }

        _node.Dispose();
        _node = SteppedNode.Open(_disk, BackedUp.Node);
        Assert.Equal("2", Read("expiration"));
        Assert.Equal(etag, _node.Database("Shop").RecordEtag);
        Assert.Equal("3"u8, _node.Core.Databases.ServerConfigurations.Find("client").Json.Span);
    }

    [Fact]
    public void A_configuration_with_another_etag_than_expected_is_not_set()
    {
        Assert.Null(Set("settings", "1", expectedEtag: 0).Rejection);
        long etag = _node.Database("Shop").Configurations.Find("settings").Etag;
        Assert.Equal(RejectionKind.ConcurrencyConflict, Set("settings", "2", expectedEtag: 0).Rejection!.Kind);
        Assert.Equal(RejectionKind.ConcurrencyConflict, Set("settings", "2", etag + 1).Rejection!.Kind);
        Assert.Equal("1", Read("settings"));
        Assert.Null(Set("settings", "2", etag).Rejection);
        Assert.Equal("2", Read("settings"));
    }

    [Fact]
    public void The_size_and_the_number_of_configurations_are_bounded()
    {
        string largest = $"\"{new string('x', DatabaseConfigurations.MaxBytes - 2)}\"";
        Assert.Null(Set("a", largest).Rejection);
        Assert.Equal(RejectionKind.TooLarge, Set("a", largest + " ").Rejection!.Kind);
        for (int i = 1; i < DatabaseConfigurations.MaxCount; i++)
        {
            Assert.Null(Set(string.Create(CultureInfo.InvariantCulture, $"n{i}"), "1").Rejection);
        }

        Assert.Equal(RejectionKind.TooLarge, Set("another", "1").Rejection!.Kind);
        Assert.Null(Set("n1", "2").Rejection);
        Assert.Equal(largest, Read("a"));
        _node.Dispose();
        _node = SteppedNode.Open(_disk, BackedUp.Node);
        Assert.Equal(DatabaseConfigurations.MaxCount, _node.Database("Shop").Configurations.Count);
    }

    [Fact]
    public void A_database_of_the_same_name_has_no_configurations_of_the_deleted_one()
    {
        Set("expiration", "1");
        _node.Run(CommandEncoder.DeleteDatabases(["Shop"]));
        _node.CreateDatabase("Shop");
        Assert.Equal(0, _node.Database("Shop").Configurations.Count);
    }

    [Fact]
    public void Configurations_make_no_index_stale()
    {
        long etag = _node.Database("Shop").LastEtagForIndexes;
        Set("expiration", "1");
        Assert.Equal(etag, _node.Database("Shop").LastEtagForIndexes);
        Assert.True(_node.Database("Shop").LastEtag > etag);
    }

    [Fact]
    public void Configurations_are_in_backups_and_survive_the_new_history()
    {
        Set("expiration", "1");
        _node.Flush();
        Set("refresh", "2");
        BackedUp.Take(_node, _disk);
        BackedUp.Restore(_disk);
        using var restored = SteppedNode.Open(_disk, BackedUp.Restored);
        Assert.NotEqual(_node.Database("Shop").HistoryId, restored.Database("Shop").HistoryId);
        Assert.Equal("1"u8, restored.Database("Shop").Configurations.Find("expiration").Json.Span);
        Assert.Equal("2"u8, restored.Database("Shop").Configurations.Find("refresh").Json.Span);
    }

    [Fact]
    public void Below_its_format_level_nothing_is_configured()
    {
        var options = SteppedNode.Options("/data/old") with { NewestFormatLevel = FormatLevel.Indexes };
        SteppedNode.Open(_disk, options).Dispose();
        using var node = SteppedNode.Open(_disk, "/data/old");
        node.CreateDatabase("db");
        long journal = node.Core.Journal.LastIndex;
        uint number = node.Database("db").Number;
        CommandBuffer[] commands =
        [
            CommandEncoder.SetConfiguration(number, "client", "{}"u8),
            CommandEncoder.ConfigureRevisions(number, new RevisionsConfiguration(new RevisionRule(), [])),
            SubscriptionWriter.Delete(number, key: default, "orders"),
        ];
        foreach (var command in commands)
        {
            var refused = node.Propose(command);
            Assert.Equal(RejectionKind.NeedsNewerFormat, refused.Rejection!.Kind);
            Assert.Contains("finalize-upgrade", refused.Rejection.Message, StringComparison.Ordinal);
        }

        Assert.Equal(journal, node.Core.Journal.LastIndex);
    }

    private CommandOutcome Set(string name, string json, long? expectedEtag = null) =>
        _node.Propose(
            CommandEncoder.SetConfiguration(
                _node.Database("Shop").Number,
                name,
                Encoding.UTF8.GetBytes(json),
                expectedEtag
            )
        );

    private string Read(string name) =>
        Encoding.UTF8.GetString(_node.Database("Shop").Configurations.Find(name).Json.Span);
}
