using System.Buffers;
using System.Text;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Redis;
using Rookery.Documents.Tests.Nodes;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Redis;

/// <summary>A node without threads that carries out commands of Redis.</summary>
internal sealed class RedisNode : IDisposable
{
    private readonly IDisk _disk;
    private readonly string _directory;

    public RedisNode(IDisk? disk = null, string directory = "/data/node")
    {
        _disk = disk ?? new SimulatedDisk("/data");
        _directory = directory;
        Node = Open();
        Node.CreateDatabase("redis");
    }

    public SimulatedTimeProvider Time { get; } = new(new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero));

    /// <summary>Whether the operating system follows a source of time.</summary>
    public bool IsClockSynchronised { get; set; } = true;

    public SteppedNode Node { get; private set; }

    public Database Database => Node.Database("redis");

    public void Dispose() => Node.Dispose();

    /// <summary>Starts the node again, so that it applies the journal again.</summary>
    public void Reopen()
    {
        Node.Dispose();
        Node = Open();
        Node.Commit();
    }

    private SteppedNode Open()
    {
        var node = SteppedNode.Open(
            _disk,
            SteppedNode.Options(_directory),
            Time,
            isClockSynchronised: () => IsClockSynchronised
        );
        node.Core.Databases.Clock.Start(() => node.Consensus.Time);
        return node;
    }

    /// <summary>Runs a command given as words, and returns its reply in a readable form.</summary>
    public string Run(string line) => Run(Words(line));

    public string Run(params byte[][] words)
    {
        Assert.True(RedisCommandTable.TryFind(words[0], out var command), Encoding.UTF8.GetString(words[0]));
        return command.IsWrite ? RunInLog(words)[0] : Read(command, words);
    }

    /// <summary>Runs commands as one command of the log; empty if a guard does not hold.</summary>
    public string[] RunInLog(params byte[][][] commands) => Replies(Propose(guards: [], commands));

    public string[] RunInLog(params string[] lines) => RunGuarded([], lines);

    public string[] RunGuarded((string Key, long Etag)[] guards, params string[] lines) =>
        Replies(Propose(guards, [.. lines.Select(Words)]));

    public CommandOutcome Propose((string Key, long Etag)[] guards, byte[][][] commands)
    {
        using var writer = new RedisCommandWriter(Database.Number);
        foreach (var (key, etag) in guards)
        {
            writer.Watch(Encoding.UTF8.GetBytes(key), etag);
        }

        foreach (byte[][] words in commands)
        {
            Assert.True(RedisCommandTable.TryFind(words[0], out var command));
            WithArguments(words, arguments => writer.Append(command, arguments));
        }

        return Node.Propose(writer.Complete());
    }

    public long Version(string key)
    {
        using var reader = Database.OpenReader();
        return RedisReader.ReadVersion(reader, Node.Consensus.Time, Encoding.UTF8.GetBytes(key));
    }

    private static byte[][] Words(string line) =>
        [.. line.Split(' ').Select(static word => Encoding.UTF8.GetBytes(word))];

    private static string[] Replies(in CommandOutcome outcome)
    {
        Assert.Null(outcome.Rejection);
        var replies = new List<string>();
        foreach (var reply in new RedisOutcome(outcome))
        {
            replies.Add(RedisText.Of(reply));
        }

        Assert.Equal(replies.Count == 0, new RedisOutcome(outcome).IsAborted);
        RedisOutcome.Release(outcome);
        return [.. replies];
    }

    public string Read(RedisCommandInfo command, byte[][] words)
    {
        var reply = new ArrayBufferWriter<byte>();
        using var reader = Database.OpenReader();
        var time = Node.Consensus.Time;
        WithArguments(words, arguments => RedisReader.Execute(reader, time, command, arguments, reply, default));
        return RedisText.Of(reply.WrittenSpan);
    }

    public delegate void ArgumentsReceiver(RedisArguments arguments);

    public static void WithArguments(byte[][] words, ArgumentsReceiver receiver)
    {
        var slices = new List<RedisSlice>();
        byte[] buffer = [.. words.Skip(1).SelectMany(static word => word)];
        int at = 0;
        foreach (byte[] word in words.Skip(1))
        {
            slices.Add(new RedisSlice(at, word.Length));
            at += word.Length;
        }

        receiver(new RedisArguments(buffer, slices.ToArray()));
    }
}
