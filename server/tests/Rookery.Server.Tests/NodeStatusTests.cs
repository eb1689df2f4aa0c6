using Rookery.Hosting;
using Rookery.Platform;

namespace Rookery.Server.Tests;

public sealed class NodeStatusTests
{
    [Fact]
    public void A_status_that_cannot_be_updated_is_logged_once_until_it_works_again()
    {
        var log = new RecordedLog();
        bool works = false;
        int calls = 0;
        var update = NodeStatus.GuardUpdate(
            log,
            () =>
            {
                calls++;
                if (!works)
                {
                    throw new IOException("no disk");
                }
            }
        );
        update();
        update();
        Assert.Contains("no disk", Assert.Single(log.Lines), StringComparison.Ordinal);
        works = true;
        update();
        Assert.Single(log.Lines);
        works = false;
        update();
        Assert.Equal(2, log.Lines.Count);
        Assert.Equal(4, calls);
    }

    [Fact]
    public void A_broken_invariant_is_not_caught() =>
        Assert.Throws<InvariantViolationException>(
            NodeStatus.GuardUpdate(new RecordedLog(), static () => Invariant.Holds(false, "a test fails"))
        );
}
