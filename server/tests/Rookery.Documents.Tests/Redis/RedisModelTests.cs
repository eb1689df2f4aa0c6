using System.Globalization;
using System.Text;
using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Redis;

/// <summary>
/// Random commands, compared with a small model, and applied again from the journal after power losses.
/// </summary>
public sealed class RedisModelTests
{
    private const int Commands = 600;

    private const string WrongType = "WRONGTYPE Operation against a key holding the wrong kind of value";

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Replies_are_those_of_a_model_and_power_losses_and_restarts_keep_the_documents(int seed)
    {
        var random = new Random(seed);
        var model = new Model();
        var disk = new SimulatedDisk("/data");
        using var node = new RedisNode(disk);
        for (int i = 0; i < Commands; i++)
        {
            string[] words = RandomCommand(random);
            string line = string.Join(' ', words);
            Assert.Equal($"{i} {line}: {model.Run(words)}", $"{i} {line}: {node.Run(line)}");
            if (i % 100 == 50)
            {
                node.Node.Flush();
            }
            else if (i % 50 == 0)
            {
                using var recovered = SteppedNode.Open(disk.AfterPowerLoss(seed), "/data/node", node.Time);
                recovered.Commit();
                Assert.Equal(node.Node.Documents("redis"), recovered.Documents("redis"));
            }
        }

        var documents = node.Node.Documents("redis");
        long outcomes = node.Node.Core.Applier.OutcomeHash;
        node.Reopen();
        Assert.Equal(documents, node.Node.Documents("redis"));
        Assert.Equal(outcomes, node.Node.Core.Applier.OutcomeHash);
    }

    private static string[] RandomCommand(Random random)
    {
        string key = "K" + random.Next(5);
        string item = "v" + random.Next(4);
        string number = random.Next(-3, 4).ToString(CultureInfo.InvariantCulture);
        return random.Next(20) switch
        {
            0 or 1 => ["SET", key, item],
            2 => ["GET", key],
            3 => ["APPEND", key, item],
            4 => ["INCRBY", key, number],
            5 => ["DEL", key],
            6 => ["TYPE", key],
            7 => ["RENAME", key, "K" + random.Next(5)],
            8 or 9 => ["HSET", key, item, number],
            10 => ["HDEL", key, item],
            11 => ["HGETALL", key],
            12 or 13 => ["RPUSH", key, item],
            14 => ["LPUSH", key, item, number],
            15 => ["LPOP", key],
            16 => ["LRANGE", key, "0", "-1"],
            17 => ["SADD", key, item, number],
            18 => ["SREM", key, item],
            _ => ["SCARD", key],
        };
    }

    /// <summary>Strings, hashes, lists and sets of .NET.</summary>
    private sealed class Model
    {
        private readonly Dictionary<string, object> _values = new(StringComparer.Ordinal);

        public string Run(string[] words)
        {
            string key = words[1];
            return words[0] switch
            {
                "SET" => Set(key, new StringBuilder(words[2])),
                "DEL" => Number(_values.Remove(key) ? 1 : 0),
                "TYPE" => TypeOf(key),
                "RENAME" => Rename(key, words[2]),
                "GET" => With<StringBuilder>(key, "null", text => $"\"{text}\""),
                "APPEND" => Change(key, static () => new StringBuilder(), text => Number(text.Append(words[2]).Length)),
                "INCRBY" => Change(key, static () => new StringBuilder("0"), text => Increment(text, words[2])),
                "HSET" => Change(key, NewHash, hash => Number(Put(hash, words[2], words[3]))),
                "HDEL" => With<Hash>(key, "0", hash => Number(hash.RemoveAll(IsField(words[2])))),
                "HGETALL" => With<Hash>(key, "{}", static hash => $"{{{Quote(hash.SelectMany(Both))}}}"),
                "RPUSH" => Change(key, static () => new List<string>(), list => Push(list, words, isLeft: false)),
                "LPUSH" => Change(key, static () => new List<string>(), list => Push(list, words, isLeft: true)),
                "LPOP" => With<List<string>>(key, "null", Pop),
                "LRANGE" => With<List<string>>(key, "[]", static list => $"[{Quote(list)}]"),
                "SADD" => Change(key, static () => new Members(), set => Number(words.Skip(2).Count(set.Add))),
                "SREM" => With<Members>(key, "0", set => Number(set.Remove(words[2]) ? 1 : 0)),
                "SCARD" => With<Members>(key, "0", static set => Number(set.Count)),
                _ => throw new InvalidOperationException(words[0]),
            };
        }

        private static Hash NewHash() => [];

        private static Predicate<(string Field, string Value)> IsField(string field) =>
            pair => string.Equals(pair.Field, field, StringComparison.Ordinal);

        private static string Quote(IEnumerable<string> items) =>
            string.Join(' ', items.Select(static item => $"\"{item}\""));

        private static IEnumerable<string> Both((string Field, string Value) pair) => [pair.Field, pair.Value];

        private static string Number(long value) => value.ToString(CultureInfo.InvariantCulture);

        private string Set(string key, object value)
        {
            _values[key] = value;
            return "OK";
        }

        private string TypeOf(string key) =>
            !_values.TryGetValue(key, out object? value) ? "none"
            : value is StringBuilder ? "string"
            : value is List<string> ? "list"
            : value is Members ? "set"
            : "hash";

        private string Rename(string from, string to)
        {
            if (!_values.Remove(from, out object? value))
            {
                return "ERR no such key";
            }

            return Set(to, value);
        }

        private string With<T>(string key, string missing, Func<T, string> run)
        {
            if (!_values.TryGetValue(key, out object? value))
            {
                return missing;
            }

            string reply = value is T typed ? run(typed) : WrongType;
            if (value is System.Collections.ICollection { Count: 0 } or Members { Count: 0 })
            {
                _values.Remove(key);
            }

            return reply;
        }

        private string Change<T>(string key, Func<T> create, Func<T, string> run)
        {
            if (!_values.TryGetValue(key, out object? value))
            {
                value = create();
                _values[key] = value!;
            }

            return value is T typed ? run(typed) : WrongType;
        }

        private static string Increment(StringBuilder text, string increment)
        {
            var culture = CultureInfo.InvariantCulture;
            if (!long.TryParse(text.ToString(), NumberStyles.AllowLeadingSign, culture, out long value))
            {
                return "ERR value is not an integer or out of range";
            }

            value += long.Parse(increment, CultureInfo.InvariantCulture);
            text.Clear().Append(value);
            return Number(value);
        }

        private static int Put(Hash hash, string field, string value)
        {
            int at = hash.FindIndex(IsField(field));
            if (at < 0)
            {
                hash.Add((field, value));
                return 1;
            }

            hash[at] = (field, value);
            return 0;
        }

        private static string Push(List<string> list, string[] words, bool isLeft)
        {
            foreach (string item in words.Skip(2))
            {
                list.Insert(isLeft ? 0 : list.Count, item);
            }

            return Number(list.Count);
        }

        private static string Pop(List<string> list)
        {
            string first = list[0];
            list.RemoveAt(0);
            return $"\"{first}\"";
        }
    }

    private sealed class Hash : List<(string Field, string Value)>;

    private sealed class Members() : HashSet<string>(StringComparer.Ordinal);
}
