using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Attachments;

/// <summary>The scrub of contents beside damaged tables.</summary>
public sealed class ContentScrubTests
{
    // A block of 16 KiB has about 300 of the rows.
    private const int Contents = 1000;

    /// <summary>
    /// The rows of the contents are in the order of hashes, in several blocks. One damaged block hides its own rows,
    /// not those of the blocks after it.
    /// </summary>
    [Fact]
    public void Missing_contents_are_found_behind_damaged_rows()
    {
        var disk = new SimulatedDisk("/data");
        using (var node = AttachedNode.Create(disk))
        {
            for (int i = 0; i < Contents; i++)
            {
                if (i % 20 == 0)
                {
                    node.Node.Put("db", $"d/{i / 20}", "{}");
                }

                node.Attach($"d/{i / 20}", $"{i}", BitConverter.GetBytes(i));
            }

            node.Node.Flush();
        }

        foreach (
            string path in disk.Files.Where(static path => path.Contains("/attachments/", StringComparison.Ordinal))
        )
        {
            disk.Delete(path);
        }

        int hidden = 0;
        foreach (string path in disk.Files.Where(static path => path.EndsWith(".run", StringComparison.Ordinal)))
        {
            for (long offset = 4000; offset < DamageTests.Length(disk, path); offset += 8000)
            {
                var damaged = disk.AfterPowerLoss(seed: 1);
                damaged.Rot(path, offset, mask: 1);
                if (DamageTests.OpenUnlessEveryStartReadsIt(damaged) is not { } node)
                {
                    continue;
                }

                using (node)
                {
                    var scrub = node.Core.Attachments.Scrub;
                    while (scrub.CheckPresence(maxContents: Contents)) { }

                    int found = node.Core.Attachments.Troubles.Places.Count;
                    Assert.InRange(found, Contents - 400, Contents);
                    hidden += Contents - found;
                }
            }
        }

        Assert.InRange(hidden, 1, int.MaxValue);
    }
}
