using Rookery.Documents.Changes;
using Rookery.Server.Raven.Changes;

namespace Rookery.Server.Tests.Raven;

/// <summary>What one connection of the changes feed watches, by commands of RavenDB's clients.</summary>
public sealed class ChangeWatchesTests
{
    private static readonly DocumentChange Change = new(DocumentChangeKind.Put, "users/1", "Users", 7);

    [Theory]
    [InlineData("docs", null)]
    [InlineData("doc", "USERS/1")]
    [InlineData("prefix", "Users/")]
    [InlineData("collection", "users")]
    public void A_watched_topic_is_wanted_until_it_is_unwatched(string topic, string? parameter)
    {
        var watches = new ChangeWatches();
        Assert.False(watches.Wants(Change));
        Assert.True(watches.TryExecute("watch-" + topic, parameter));
        Assert.True(watches.Wants(Change));
        Assert.True(watches.TryExecute("unwatch-" + topic, parameter));
        Assert.False(watches.Wants(Change));
    }

    /// <summary>ẞ has the lower case ß, which has no upper case of one letter; σ and ς have one upper case.</summary>
    [Theory]
    [InlineData("doc", "users/STRAẞE", "users/straße", true)]
    [InlineData("doc", "users/5\u212A", "users/5k", true)]
    [InlineData("doc", "users/σ", "users/ς", false)]
    [InlineData("prefix", "users/STRAẞ", "users/straße", true)]
    [InlineData("prefix", "users/σ", "users/ςα", false)]
    [InlineData("prefix", "users/straßen", "users/straße", false)]
    public void Ids_are_compared_as_the_database_compares_them(string topic, string watched, string id, bool isWanted)
    {
        var watches = new ChangeWatches();
        Assert.True(watches.TryExecute("watch-" + topic, watched));
        Assert.Equal(isWanted, watches.Wants(Change with { Id = id }));
    }

    [Theory]
    [InlineData("ÄRZTE", "Ärzte", true)]
    [InlineData("ärzte", "Ärzte", false)]
    public void Collections_are_compared_as_the_database_compares_them(string watched, string name, bool isWanted)
    {
        var watches = new ChangeWatches();
        Assert.True(watches.TryExecute("watch-collection", watched));
        Assert.Equal(isWanted, watches.Wants(Change with { Collection = name }));
    }

    [Theory]
    [InlineData("Σ", "σ", true)]
    [InlineData("Σ", "ς", false)]
    public void Counters_are_compared_as_the_database_compares_them(string watched, string counter, bool isWanted)
    {
        var watches = new ChangeWatches();
        Assert.True(watches.TryExecute("watch-document-counter", "users/1", watched));
        Assert.Equal(isWanted, watches.Wants(Change with { Counter = counter }));
    }

    [Fact]
    public void A_connection_watches_a_bounded_number_of_topics()
    {
        var watches = new ChangeWatches();
        for (int i = 0; i < ChangeWatches.MaximumOfKind; i++)
        {
            Assert.True(watches.TryExecute("watch-prefix", $"p{i}/"));
        }

        Assert.False(watches.TryExecute("watch-prefix", "users/"));
        Assert.False(watches.Wants(Change));
        Assert.True(watches.TryExecute("unwatch-prefix", "p0/"));
        Assert.True(watches.TryExecute("watch-prefix", "users/"));
        Assert.True(watches.Wants(Change));
    }

    [Theory]
    [InlineData("doc", "users/2")]
    [InlineData("prefix", "orders/")]
    [InlineData("collection", "Orders")]
    public void Changes_of_unwatched_topics_are_not_wanted(string topic, string parameter)
    {
        var watches = new ChangeWatches();
        Assert.True(watches.TryExecute("watch-" + topic, parameter));
        Assert.False(watches.Wants(Change));
    }

    [Theory]
    [InlineData("unwatch-counters")]
    [InlineData("watch-topology-change")]
    [InlineData("watch-document-timeseries")]
    [InlineData("watch-all-document-timeseries")]
    [InlineData("unwatch-all-document-timeseries")]
    public void Topics_that_never_have_changes_here_can_be_watched(string command) =>
        Assert.True(new ChangeWatches().TryExecute(command, null));

    [Theory]
    [InlineData("watch-everything")]
    [InlineData("docs")]
    [InlineData("")]
    [InlineData("watch-doc")]
    public void Commands_that_name_no_topic_are_unknown(string command) =>
        Assert.False(new ChangeWatches().TryExecute(command, null));

    [Fact]
    public void Indexes_are_watched_by_name_regardless_of_case_or_all_together()
    {
        var watches = new ChangeWatches();
        Assert.False(watches.WantsIndex("Auto/Users/ByAge"));
        Assert.True(watches.TryExecute("watch-index", "auto/users/byage"));
        Assert.True(watches.WantsIndex("Auto/Users/ByAge"));
        Assert.False(watches.WantsIndex("Auto/Users/ByName"));
        Assert.True(watches.TryExecute("watch-indexes", null));
        Assert.True(watches.WantsIndex("Auto/Users/ByName"));
        Assert.True(watches.TryExecute("unwatch-indexes", null));
        Assert.False(watches.WantsIndex("Auto/Users/ByName"));
    }

    [Fact]
    public void Operations_are_watched_by_number_or_all()
    {
        var watches = new ChangeWatches();
        watches.TryExecute("watch-operation", "5");
        Assert.True(watches.WantsOperation(5));
        Assert.False(watches.WantsOperation(6));
        watches.TryExecute("watch-operations", null);
        Assert.True(watches.WantsOperation(6));
    }
}
