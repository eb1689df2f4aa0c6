using System.Buffers.Text;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using System.Text;

namespace Rookery.Server.Dashboard;

/// <summary>
/// Who signed in with a browser. A session is a random name for a token that was shown once: it gives what that token
/// gives, is judged anew at each request, and lives in the memory of this node only. Of both only hashes are kept.
/// Thread-safe.
/// </summary>
internal sealed class Sessions(TimeProvider time)
{
    /// <summary>How many there may be; the one that was not used for the longest time makes room.</summary>
    public const int Most = 256;

    /// <summary>How many of these may be of one token: whoever has one must not sign all others out.</summary>
    public const int MostOfToken = 32;

    /// <summary>A session that is not used for so long has ended.</summary>
    public static readonly TimeSpan Idle = TimeSpan.FromHours(12);

    /// <summary>No session lasts longer.</summary>
    public static readonly TimeSpan Longest = TimeSpan.FromDays(30);

    private const int RandomBytes = 32;

    private readonly Lock _access = new();
    private readonly Dictionary<Key, Session> _sessions = [];

    /// <summary>Begins one for whoever showed the token of a hash.</summary>
    /// <returns>What the browser brings from now on.</returns>
    public string Begin(ReadOnlySpan<byte> tokenHash)
    {
        string secret = Base64Url.EncodeToString(RandomNumberGenerator.GetBytes(RandomBytes));
        Key.TryOf(secret, out var key);
        long now = time.GetTimestamp();
        lock (_access)
        {
            MakeRoomOf(tokenHash);
            if (_sessions.Count >= Most)
            {
                DropEnded(now);
            }

            if (_sessions.Count >= Most)
            {
                _sessions.Remove(_sessions.MinBy(static known => known.Value.Used).Key);
            }

            _sessions.Add(key, new Session(tokenHash.ToArray(), now) { Used = now });
        }

        return secret;
    }

    /// <summary>The hash of the token for which a session stands; it counts as used.</summary>
    /// <param name="secret">What the browser brought.</param>
    /// <param name="tokenHash">The hash.</param>
    /// <returns>False when there is no such session, or it has ended.</returns>
    public bool TryUse(string secret, [NotNullWhen(true)] out byte[]? tokenHash)
    {
        tokenHash = null;
        if (!Key.TryOf(secret, out var key))
        {
            return false;
        }

        long now = time.GetTimestamp();
        lock (_access)
        {
            if (!_sessions.TryGetValue(key, out var session))
            {
                return false;
            }

            if (HasEnded(session, now))
            {
                _sessions.Remove(key);
                return false;
            }

            session.Used = now;
            tokenHash = session.TokenHash;
            return true;
        }
    }

    /// <summary>Ends a session.</summary>
    public void End(string secret)
    {
        if (Key.TryOf(secret, out var key))
        {
            lock (_access)
            {
                _sessions.Remove(key);
            }
        }
    }

    /// <summary>
    /// Drops the one of a token that was not used for the longest time, where it has as many as one may have.
    /// </summary>
    private void MakeRoomOf(ReadOnlySpan<byte> tokenHash)
    {
        int count = 0;
        Key oldest = default;
        long used = long.MaxValue;
        foreach (var (key, session) in _sessions)
        {
            if (!tokenHash.SequenceEqual(session.TokenHash))
            {
                continue;
            }

            count++;
            if (session.Used < used)
            {
                (oldest, used) = (key, session.Used);
            }
        }

        if (count >= MostOfToken)
        {
            _sessions.Remove(oldest);
        }
    }

    private void DropEnded(long now)
    {
        foreach (var (key, session) in _sessions)
        {
            if (HasEnded(session, now))
            {
                _sessions.Remove(key);
            }
        }
    }

    private bool HasEnded(Session session, long now) =>
        time.GetElapsedTime(session.Used, now) >= Idle || time.GetElapsedTime(session.Begun, now) >= Longest;

    private sealed class Session(byte[] tokenHash, long begun)
    {
        public byte[] TokenHash => tokenHash;

        public long Begun => begun;

        public long Used { get; set; }
    }

    /// <summary>
    /// The SHA-256 of what the browser brings: how long it takes to find none says nothing of those that there are.
    /// </summary>
    private readonly record struct Key(long First, long Second, long Third, long Fourth)
    {
        public static bool TryOf(string secret, out Key key)
        {
            key = default;
            if (secret.Length != Base64Url.GetEncodedLength(RandomBytes) || !Ascii.IsValid(secret))
            {
                return false;
            }

            Span<byte> text = stackalloc byte[secret.Length];
            Ascii.FromUtf16(secret, text, out _);
            Span<long> hash = stackalloc long[SHA256.HashSizeInBytes / sizeof(long)];
            SHA256.HashData(text, MemoryMarshal.AsBytes(hash));
            key = new Key(hash[0], hash[1], hash[2], hash[3]);
            return true;
        }
    }
}
