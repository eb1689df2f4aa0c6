using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;

namespace Rookery.Cluster.Forming;

/// <summary>
/// The phrase that the cards of one cluster share, as a key: derived once and slowly, because whoever gets one proof
/// may try guesses against it. A proof holds for one connection: it is bound to the certificates of both ends, so that
/// nobody in between can pass it on. Immutable.
/// </summary>
public sealed class FormingPhrase
{
    /// <summary>The fewest characters of a phrase.</summary>
    public const int LeastCharacters = 16;

    // A second of a Pi 3.
    private const int Rounds = 600_000;

    // So few that the mark alone does not tell a guess from the phrase.
    private const int MarkBytes = 2;

    private readonly byte[] _key;

    private FormingPhrase(byte[] key) => _key = key;

    /// <summary>
    /// By what those of one phrase and one cluster's name know each other in an announcement. Others may have the same
    /// by chance.
    /// </summary>
    public string Mark =>
        Convert.ToHexStringLower(HMACSHA256.HashData(_key, "rookery forming 1 mark"u8).AsSpan(0, MarkBytes));

    /// <summary>Why a phrase is refused, in a sentence that does not repeat it; null when it is not.</summary>
    public static string? WhyTooShort(string phrase) =>
        phrase.Trim().Length >= LeastCharacters
            ? null
            : $"The phrase to form a cluster by has {phrase.Trim().Length} characters, and must have "
                + $"{LeastCharacters} at least: whoever knows it becomes a member, and whoever is in the network "
                + $"can try guesses. Take four words or more, drawn by chance.";

    /// <summary>Derives the key. Takes a second on a small board.</summary>
    /// <param name="phrase">The phrase; blanks around it do not count.</param>
    /// <param name="clusterName">What the cluster is to be called.</param>
    public static FormingPhrase Derive(string phrase, string clusterName) =>
        new(
            Rfc2898DeriveBytes.Pbkdf2(
                phrase.Trim(),
                Encoding.UTF8.GetBytes("rookery forming 1 " + clusterName),
                Rounds,
                HashAlgorithmName.SHA256,
                SHA256.HashSizeInBytes
            )
        );

    /// <summary>What shows one end of a connection that the other knows the phrase.</summary>
    /// <param name="end">Who shows it.</param>
    /// <param name="caller">The certificate of who connected.</param>
    /// <param name="answerer">That of who was connected to.</param>
    internal byte[] Prove(FormingEnd end, X509Certificate caller, X509Certificate answerer) =>
        HMACSHA256.HashData(
            _key,
            (byte[])
                [
                    .. "rookery forming 1 "u8,
                    (byte)end,
                    .. SHA256.HashData(caller.GetRawCertData()),
                    .. SHA256.HashData(answerer.GetRawCertData()),
                ]
        );

    /// <summary>Whether it is what <see cref="Prove"/> gives.</summary>
    internal bool IsProof(ReadOnlySpan<byte> shown, FormingEnd end, X509Certificate caller, X509Certificate answerer) =>
        CryptographicOperations.FixedTimeEquals(shown, Prove(end, caller, answerer));
}

/// <summary>The ends of a connection; each has its own proof, so that none can be sent back.</summary>
internal enum FormingEnd : byte
{
    /// <summary>Who connected.</summary>
    Caller = 1,

    /// <summary>Who was connected to.</summary>
    Answerer = 2,
}
