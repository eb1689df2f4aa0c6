using Rookery.Transfer;

namespace Rookery.Server.Tests.CommandLine;

/// <summary>What an export leaves out.</summary>
public sealed class LeftOutTests
{
    [Fact]
    public void Data_that_an_export_leaves_out_are_named_apart_from_definitions()
    {
        var all = new LeftOut(1, 2, 4, 12, 1, 3) + new LeftOut(2, 0, 0, 0, 0, 0);
        Assert.Equal(
            "values of 3 counters, contents of 2 attachments, 4 revisions and 12 compare-exchange values",
            all.DescribeData()
        );
        Assert.Equal("1 identity and 3 indexes", all.DescribeDefinitions());
        Assert.Null(new LeftOut(0, 0, 0, 0, 1, 1).DescribeData());
        Assert.Null(default(LeftOut).DescribeDefinitions());
    }
}
