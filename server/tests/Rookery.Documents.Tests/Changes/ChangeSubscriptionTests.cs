using Rookery.Documents.Changes;

namespace Rookery.Documents.Tests.Changes;

/// <summary>What a subscriber learns of changes that its queue had no room for.</summary>
public sealed class ChangeSubscriptionTests
{
    [Fact]
    public void Changes_beyond_the_capacity_are_dropped_and_reported_once()
    {
        var hub = new ChangeHub<int>();
        using var subscription = hub.Subscribe(capacity: 2);
        for (int change = 1; change <= 3; change++)
        {
            hub.Publish(change);
        }

        var read = new List<int>();
        while (subscription.TryRead(out int change))
        {
            read.Add(change);
        }

        Assert.Equal([1, 2], read);
        Assert.True(subscription.TakeLagged());
        Assert.False(subscription.TakeLagged());
    }
}
