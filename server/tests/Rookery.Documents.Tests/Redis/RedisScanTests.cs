namespace Rookery.Documents.Tests.Redis;

/// <summary>How much SCAN reads in one call.</summary>
public sealed class RedisScanTests : IDisposable
{
    private readonly RedisNode _node = new();

    public void Dispose() => _node.Dispose();

    [Fact]
    public void A_scan_by_type_ends_its_page_after_16_MiB_of_bodies_and_loses_no_key()
    {
        string noise = new('x', 3 << 20);
        for (int i = 0; i < 12; i++)
        {
            _node.Node.Put("redis", $"large{i}", $$"""{"Value":"{{noise}}"}""");
            _node.Node.Put("redis", $"hash{i}", $$"""{"n":"{{noise}}","@metadata":{"@redis":"hash"} }""");
        }

        var (pages, keys) = Scan("SCAN CURSOR TYPE string");
        Assert.Equal(3, pages); // 12 strings of 3 MiB, five in a page
        Assert.Equal(Enumerable.Range(0, 12).Select(static i => $"large{i}"), keys);
        Assert.Equal(1, Scan("SCAN CURSOR MATCH hash* TYPE hash").Pages);
        Assert.Equal(12, Scan("SCAN CURSOR MATCH hash* TYPE hash").Keys.Count);
        Assert.Equal(1, Scan("SCAN CURSOR").Pages);
    }

    /// <summary>Formerly, they were skipped at once however many they were.</summary>
    [Fact]
    public void A_scan_counts_documents_that_expired_as_read()
    {
        const int Documents = 1500;
        for (int i = 0; i < Documents; i++)
        {
            _node.Node.Put("redis", $"old{i}", """{"@metadata":{"@expires":"2026-01-01T00:01:00Z"} }""");
        }

        _node.Node.Put("redis", "new", "{}");
        _node.Time.Advance(TimeSpan.FromMinutes(2));
        var (pages, keys) = Scan("SCAN CURSOR");
        Assert.Equal(3, pages); // 512 documents in a page
        Assert.Equal(["new"], keys);
    }

    private (int Pages, List<string> Keys) Scan(string command)
    {
        int pages = 0;
        var keys = new List<string>();
        string cursor = "0";
        do
        {
            string reply = _node.Run(command.Replace("CURSOR", cursor, StringComparison.Ordinal));
            string[] texts = reply.Split(['[', ']', '"', ' '], StringSplitOptions.RemoveEmptyEntries);
            cursor = texts[0];
            keys.AddRange(texts[1..]);
            pages++;
        } while (cursor is not "0");
        return (pages, keys);
    }
}
