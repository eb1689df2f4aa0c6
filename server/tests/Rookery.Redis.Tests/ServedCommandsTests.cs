using System.Text;

namespace Rookery.Redis.Tests;

public sealed class ServedCommandsTests(RedisServer server) : IClassFixture<RedisServer>
{
    [Fact]
    public async Task A_string_is_set_read_and_deleted()
    {
        using var client = await server.ConnectAsync();
        Assert.Equal("+OK", await client.CallAsync("SET", "first:a", "on"));
        Assert.Equal("on", await client.CallAsync("get", "first:a"));
        Assert.Equal(":1", await client.CallAsync("DEL", "first:a"));
        Assert.Equal("nil ", await client.CallAsync("GET", "first:a"));
    }

    [Fact]
    public async Task A_burst_of_writes_is_one_entry_of_the_log()
    {
        using var client = await server.ConnectAsync();
        Assert.Equal("+PONG", await client.CallAsync("PING"));
        Assert.Equal("+OK", await client.CallAsync("SET", "burst:0", "x")); // creates the database
        long before = server.Node.Consensus.AppliedIndex;
        var burst = new StringBuilder();
        for (int i = 0; i < 30; i++)
        {
            burst.Append(RawClient.Encode("SET", $"burst:{i}", $"value {i}"));
            burst.Append(RawClient.Encode("GET", $"burst:{i}"));
        }

        await client.SendAsync(burst.ToString());
        for (int i = 0; i < 30; i++)
        {
            Assert.Equal("+OK", await client.ReadAsync());
            Assert.Equal($"value {i}", await client.ReadAsync());
        }

        Assert.Equal(before + 1, server.Node.Consensus.AppliedIndex);
    }

    [Fact]
    public async Task An_error_within_a_burst_changes_nothing_for_the_others()
    {
        using var client = await server.ConnectAsync();
        await client.SendAsync(
            RawClient.Encode("SET", "mixed", "text")
                + RawClient.Encode("INCR", "mixed")
                + RawClient.Encode("NOSUCH", "a", "b")
                + RawClient.Encode("GET")
                + RawClient.Encode("GET", "mixed")
        );
        Assert.Equal("+OK", await client.ReadAsync());
        Assert.Equal("-ERR value is not an integer or out of range", await client.ReadAsync());
        Assert.Equal("-ERR unknown command 'NOSUCH', with args beginning with: 'a' 'b' ", await client.ReadAsync());
        Assert.Equal("-ERR wrong number of arguments for 'get' command", await client.ReadAsync());
        Assert.Equal("text", await client.ReadAsync());
    }

    [Fact]
    public async Task Commands_that_are_not_served_are_refused_by_name()
    {
        using var client = await server.ConnectAsync();
        foreach (string name in (string[])["ZADD", "EVAL", "XADD", "LOLWUT", "GEOADD", "PFADD", "FLUSHALL"])
        {
            Assert.StartsWith(
                $"-ERR '{name.ToLowerInvariant()}' is not served by Rookery: ",
                await client.CallAsync(name, "a", "1", "b"),
                StringComparison.Ordinal
            );
        }

        Assert.Equal("+PONG", await client.CallAsync("PING"));
    }

    [Fact]
    public async Task A_transaction_is_one_entry_and_answers_each_command()
    {
        using var client = await server.ConnectAsync();
        Assert.Equal("+OK", await client.CallAsync("SET", "tx:n", "1"));
        long before = server.Node.Consensus.AppliedIndex;
        Assert.Equal("+OK", await client.CallAsync("MULTI"));
        Assert.Equal("+QUEUED", await client.CallAsync("INCR", "tx:n"));
        Assert.Equal("+QUEUED", await client.CallAsync("PING"));
        Assert.Equal("+QUEUED", await client.CallAsync("INCR", "tx:n"));
        Assert.Equal("*3 :2 +PONG :3", await client.CallAsync("EXEC"));
        Assert.Equal(before + 1, server.Node.Consensus.AppliedIndex);
        Assert.Equal("-ERR EXEC without MULTI", await client.CallAsync("EXEC"));
    }

    [Fact]
    public async Task A_transaction_with_a_refused_command_executes_none()
    {
        using var client = await server.ConnectAsync();
        await client.CallAsync("SET", "abort:n", "1");
        await client.CallAsync("MULTI");
        await client.CallAsync("INCR", "abort:n");
        Assert.StartsWith("-ERR wrong number", await client.CallAsync("GET"), StringComparison.Ordinal);
        Assert.Equal("-EXECABORT Transaction discarded because of previous errors.", await client.CallAsync("EXEC"));
        Assert.Equal("1", await client.CallAsync("GET", "abort:n"));
    }

    [Fact]
    public async Task A_watched_key_that_another_client_changed_aborts_the_transaction()
    {
        using var client = await server.ConnectAsync();
        using var other = await server.ConnectAsync();
        await client.CallAsync("SET", "watch:n", "1");
        Assert.Equal("+OK", await client.CallAsync("WATCH", "watch:n", "watch:absent"));
        await client.CallAsync("MULTI");
        await client.CallAsync("SET", "watch:n", "mine");
        await other.CallAsync("SET", "watch:absent", "theirs");
        Assert.Equal("*-1", await client.CallAsync("EXEC"));
        Assert.Equal("1", await client.CallAsync("GET", "watch:n"));

        await client.CallAsync("WATCH", "watch:n");
        await other.CallAsync("SET", "watch:n", "theirs");
        await client.CallAsync("UNWATCH");
        await client.CallAsync("MULTI");
        await client.CallAsync("SET", "watch:n", "mine");
        Assert.Equal("*1 +OK", await client.CallAsync("EXEC"));
    }

    [Fact]
    public async Task A_watched_key_that_another_client_created_and_deleted_aborts_the_transaction()
    {
        using var client = await server.ConnectAsync();
        using var other = await server.ConnectAsync();
        foreach (
            string[] queued in (string[][])
                [
                    ["SET", "ghost:mine", "1"],
                    ["PING"],
                ]
        )
        {
            Assert.Equal("+OK", await client.CallAsync("WATCH", "ghost:absent"));
            await other.CallAsync("SET", "ghost:absent", "1");
            await other.CallAsync("DEL", "ghost:absent");
            await client.CallAsync("MULTI");
            await client.CallAsync(queued);
            Assert.Equal("*-1", await client.CallAsync("EXEC"));
        }

        Assert.Equal("+OK", await client.CallAsync("WATCH", "ghost:absent"));
        await client.CallAsync("MULTI");
        await client.CallAsync("PING");
        Assert.Equal("*1 +PONG", await client.CallAsync("EXEC"));
    }

    [Fact]
    public async Task A_sent_half_that_is_closed_leaves_no_command_without_reply()
    {
        const int Count = 20_000;
        using var client = await server.ConnectAsync();
        await client.CallAsync("DEL", "half");
        string command = RawClient.Encode("INCR", "half");
        var sending = client.SendAsync(string.Concat(Enumerable.Repeat(command, Count)));
        for (int i = 1; i <= Count; i++)
        {
            Assert.Equal($":{i}", await client.ReadAsync());
            if (i == 1)
            {
                await sending;
                client.EndSending();
            }
        }

        Assert.Equal("end", await client.ReadAsync());
    }

    [Fact]
    public async Task A_sent_half_that_is_closed_leaves_no_read_without_reply()
    {
        const int Count = 20_000;
        using var client = await server.ConnectAsync();
        await client.CallAsync("SET", "half:read", "1");
        string command = RawClient.Encode("GET", "half:read");
        var sending = client.SendAsync(string.Concat(Enumerable.Repeat(command, Count)));
        for (int i = 1; i <= Count; i++)
        {
            Assert.Equal("1", await client.ReadAsync());
            if (i == 1)
            {
                await sending;
                client.EndSending();
            }
        }

        Assert.Equal("end", await client.ReadAsync());
    }

    [Fact]
    public async Task Messages_reach_subscribers_of_channels_and_patterns()
    {
        using var subscriber = await server.ConnectAsync();
        using var publisher = await server.ConnectAsync();
        Assert.Equal("*3 subscribe news :1", await subscriber.CallAsync("SUBSCRIBE", "news"));
        Assert.Equal("*3 psubscribe n* :2", await subscriber.CallAsync("PSUBSCRIBE", "n*"));
        Assert.Equal(":2", await publisher.CallAsync("PUBLISH", "news", "hello"));
        Assert.Equal("*3 message news hello", await subscriber.ReadAsync());
        Assert.Equal("*4 pmessage n* news hello", await subscriber.ReadAsync());
        Assert.Equal("*2 pong ", (await subscriber.CallAsync("PING")) + " ");
        Assert.StartsWith("-ERR Can't execute 'get'", await subscriber.CallAsync("GET", "a"), StringComparison.Ordinal);
        Assert.Equal("*2 news :1", await publisher.CallAsync("PUBSUB", "NUMSUB", "news"));
        Assert.Equal("*3 unsubscribe news :1", await subscriber.CallAsync("UNSUBSCRIBE"));
        Assert.Equal("*3 punsubscribe n* :0", await subscriber.CallAsync("PUNSUBSCRIBE", "n*"));
        Assert.Equal("nil ", await subscriber.CallAsync("GET", "absent"));
    }

    [Fact]
    public async Task Changes_of_keys_are_published_as_keyspace_notifications()
    {
        using var subscriber = await server.ConnectAsync();
        using var writer = await server.ConnectAsync();
        await writer.CallAsync("SET", "notified:Before", "1");
        Assert.Equal("*3 psubscribe __key*@0__:* :1", await subscriber.CallAsync("PSUBSCRIBE", "__key*@0__:*"));
        await writer.CallAsync("SET", "notified:Key", "1");
        await FindAsync(subscriber, "*4 pmessage __key*@0__:* __keyspace@0__:notified:Key set");
        await FindAsync(subscriber, "*4 pmessage __key*@0__:* __keyevent@0__:set notified:Key");
        await writer.CallAsync("DEL", "notified:Key");
        await FindAsync(subscriber, "*4 pmessage __key*@0__:* __keyspace@0__:notified:Key del");
    }

    [Fact]
    public async Task The_stream_of_changes_is_read_waited_for_and_resumed()
    {
        using var client = await server.ConnectAsync();
        using var writer = await server.ConnectAsync();
        await writer.CallAsync("SET", "stream:a", "1");
        await client.SendAsync(RawClient.Encode("XREAD", "BLOCK", "0", "STREAMS", "changes", "$"));
        await WaitForBlockedAsync();
        await writer.CallAsync("SET", "stream:b", "1");
        string entry = await client.ReadAsync();
        Assert.Contains("event set id stream:b collection @redis", entry, StringComparison.Ordinal);
        string id = entry.Split(' ').First(static part => part.EndsWith("-0", StringComparison.Ordinal));
        Assert.Equal("*-1", await client.CallAsync("XREAD", "STREAMS", "changes", id));
        Assert.StartsWith(
            "-ERR The last change has the id ",
            await client.CallAsync("XREAD", "BLOCK", "0", "STREAMS", "changes", "999999999-0"),
            StringComparison.Ordinal
        );
        Assert.Contains("id stream:b ", await client.CallAsync("XRANGE", "changes", id, "+"), StringComparison.Ordinal);
        Assert.Equal("*0", await client.CallAsync("XRANGE", "changes", "(" + id, "+", "COUNT", "1"));
        Assert.StartsWith(
            "-ERR There is one stream",
            await client.CallAsync("XLEN", "other"),
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task Clients_name_themselves_and_choose_their_replies()
    {
        using var client = await server.ConnectAsync();
        Assert.Equal("+OK", await client.CallAsync("CLIENT", "SETNAME", "me"));
        Assert.Equal("me", await client.CallAsync("CLIENT", "GETNAME"));
        string id = await client.CallAsync("CLIENT", "ID");
        Assert.Contains($"id={id[1..]} ", await client.CallAsync("CLIENT", "INFO"), StringComparison.Ordinal);
        await client.SendAsync(
            RawClient.Encode("CLIENT", "REPLY", "SKIP")
                + RawClient.Encode("SET", "silent", "1")
                + RawClient.Encode("CLIENT", "REPLY", "OFF")
                + RawClient.Encode("INCR", "silent")
                + RawClient.Encode("GET", "silent")
                + RawClient.Encode("CLIENT", "REPLY", "ON")
                + RawClient.Encode("GET", "silent")
        );
        Assert.Equal("+OK", await client.ReadAsync());
        Assert.Equal("2", await client.ReadAsync());
    }

    [Fact]
    public async Task A_client_ends_another_one()
    {
        using var client = await server.ConnectAsync();
        using var other = await server.ConnectAsync();
        string id = (await other.CallAsync("CLIENT", "ID"))[1..];
        Assert.Equal(":1", await client.CallAsync("CLIENT", "KILL", "ID", id));
        Assert.True(await other.HasEndedAsync());
        Assert.Equal("-ERR No such client", await client.CallAsync("CLIENT", "KILL", "127.0.0.1:1"));
    }

    [Fact]
    public async Task Version_3_of_the_protocol_has_maps_and_nulls()
    {
        using var client = await server.ConnectAsync();
        Assert.StartsWith("%7 server redis version 7.", await client.CallAsync("HELLO", "3"), StringComparison.Ordinal);
        Assert.Equal("_", await client.CallAsync("GET", "absent"));
        Assert.Equal("%1 appendfsync always", await client.CallAsync("CONFIG", "GET", "appendfs*"));
        Assert.Equal("-NOPROTO unsupported protocol version", await client.CallAsync("HELLO", "4"));
        Assert.Equal("+RESET", await client.CallAsync("RESET"));
        Assert.Equal("nil ", await client.CallAsync("GET", "absent"));
    }

    [Fact]
    public async Task The_table_of_commands_names_keys_and_counts()
    {
        using var client = await server.ConnectAsync();
        Assert.Equal("*2 a b", await client.CallAsync("COMMAND", "GETKEYS", "MSET", "a", "1", "b", "2"));
        Assert.StartsWith(
            "*1 *10 get :2 *2 ",
            await client.CallAsync("COMMAND", "INFO", "get"),
            StringComparison.Ordinal
        );
        Assert.Equal("*1 mget", await client.CallAsync("COMMAND", "LIST", "FILTERBY", "PATTERN", "mge*"));
        Assert.Equal("*1 *-1", await client.CallAsync("COMMAND", "INFO", "zadd"));
    }

    [Fact]
    public async Task Information_of_the_server_has_the_fields_that_clients_read()
    {
        using var client = await server.ConnectAsync();
        string text = await client.CallAsync("INFO");
        foreach (string field in (string[])["redis_version:7.0", "loading:0", "role:master", "connected_clients:"])
        {
            Assert.Contains(field, text, StringComparison.Ordinal);
        }

        Assert.Equal(":0", await client.CallAsync("WAIT", "1", "0"));
        Assert.StartsWith("*2 1", await client.CallAsync("TIME"), StringComparison.Ordinal);
        Assert.Equal("+OK", await client.CallAsync("SELECT", "0"));
        Assert.StartsWith(
            "-ERR DB index is out of range",
            await client.CallAsync("SELECT", "1"),
            StringComparison.Ordinal
        );
        Assert.Equal("x", await client.CallAsync("ECHO", "x"));
        Assert.Equal("+OK", await client.CallAsync("QUIT"));
        Assert.Equal("end", await client.ReadAsync());
    }

    [Fact]
    public async Task Lost_framing_is_answered_and_ends_the_connection()
    {
        using var client = await server.ConnectAsync();
        await client.SendAsync(RawClient.Encode("SET", "framing", "1") + "*1\r\n$-5\r\n" + RawClient.Encode("PING"));
        Assert.Equal("+OK", await client.ReadAsync());
        Assert.Equal("-ERR Protocol error: invalid bulk length", await client.ReadAsync());
        Assert.Equal("end", await client.ReadAsync());
    }

    [Fact]
    public async Task A_value_over_the_bound_is_refused_and_the_connection_lives()
    {
        using var client = await server.ConnectAsync();
        int length = server.Context.Options.DocumentBytesLimit + 1;
        await client.SendAsync($"*3\r\n$3\r\nSET\r\n$5\r\nlarge\r\n${length}\r\n{new string('x', length)}\r\n");
        Assert.StartsWith("-ERR The command is larger than ", await client.ReadAsync(), StringComparison.Ordinal);
        Assert.Equal("+PONG", await client.CallAsync("PING"));
        Assert.Equal("nil ", await client.CallAsync("GET", "large"));
    }

    [Fact]
    public async Task Large_values_are_read_whole_in_any_order()
    {
        using var client = await server.ConnectAsync();
        string value = new('v', 1_000_000);
        Assert.Equal("+OK", await client.CallAsync("SET", "long", value));
        await client.SendAsync(
            RawClient.Encode("GET", "long") + RawClient.Encode("PING") + RawClient.Encode("GET", "long")
        );
        Assert.Equal(value, await client.ReadAsync());
        Assert.Equal("+PONG", await client.ReadAsync());
        Assert.Equal(value, await client.ReadAsync());
    }

    [Fact]
    public async Task Metrics_count_commands_and_entries()
    {
        using var client = await server.ConnectAsync();
        await client.CallAsync("SET", "measured", "1");
        string text = Rookery.Server.Operations.MetricsRoute.Collect(server.Context);
        Assert.Contains("rookery_redis_commands_total{family=\"string\"} ", text, StringComparison.Ordinal);
        Assert.Contains("rookery_redis_bursts_total ", text, StringComparison.Ordinal);
        Assert.Contains("rookery_redis_connections ", text, StringComparison.Ordinal);
    }

    // Waits until one connection waits for a change.
    private async Task WaitForBlockedAsync()
    {
        for (int i = 0; i < 3_000 && server.Redis.Changes.Waiting == 0; i++)
        {
            await Task.Delay(10);
        }

        Assert.Equal(1, server.Redis.Changes.Waiting);
    }

    // Other tests of the class change keys too.
    private static async Task FindAsync(RawClient subscriber, string message)
    {
        string received = string.Empty;
        for (int i = 0; i < 1_000 && !string.Equals(received, message, StringComparison.Ordinal); i++)
        {
            received = await subscriber.ReadAsync();
        }

        Assert.Equal(message, received);
    }
}
