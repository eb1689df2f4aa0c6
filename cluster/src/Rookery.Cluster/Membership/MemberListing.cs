using System.Text;
using System.Text.Json;
using Rookery.Documents.Consensus;

namespace Rookery.Cluster.Membership;

/// <summary>Formats the list of members for operators, as JSON.</summary>
internal static class MemberListing
{
    /// <summary>Returns a sentence about how many voters may fail.</summary>
    public static string Tolerance(int voters) =>
        voters switch
        {
            1 => "One member votes: when it is off, nothing is written.",
            2 => "Two members vote: when either is off, nothing is written.",
            _ => $"{voters} members vote: with {(voters - 1) / 2} of them off, writes go on.",
        };

    /// <summary>
    /// Returns the list:
    /// {"Leader","Term","LastIndex","LastTerm","Voters","Tolerance","Note","Unreached":["…"],"Members":[…]}.
    /// </summary>
    public static string ToJson(ConsensusStatistics cluster)
    {
        int voters = cluster.Members.Count(static member => member.Member.IsVoter);
        using var text = new MemoryStream();
        using (var json = new Utf8JsonWriter(text))
        {
            json.WriteStartObject();
            json.WriteString("Leader"u8, cluster.LeaderTag);
            json.WriteNumber("Term"u8, cluster.Term);
            json.WriteNumber("LastIndex"u8, cluster.LastIndex);
            json.WriteNumber("LastTerm"u8, cluster.LastTerm);
            json.WriteNumber("Voters"u8, voters);
            json.WriteNumber("Tolerance"u8, (voters - 1) / 2);
            json.WriteString("Note"u8, cluster.Trouble ?? NoteOn(cluster.Members, voters));
            if (cluster.Unreached.Count > 0)
            {
                json.WriteStartArray("Unreached"u8);
                foreach (string sentence in cluster.Unreached)
                {
                    json.WriteStringValue(sentence);
                }

                json.WriteEndArray();
            }

            json.WriteStartArray("Members"u8);
            foreach (var member in cluster.Members)
            {
                Write(json, member);
            }

            json.WriteEndArray();
            json.WriteEndObject();
        }

        return Encoding.UTF8.GetString(text.ToArray());
    }

    private static void Write(Utf8JsonWriter json, MemberStatistics member)
    {
        json.WriteStartObject();
        json.WriteString("Tag"u8, member.Member.Tag);
        json.WriteString("Name"u8, member.Member.Name);
        json.WriteString("NodeId"u8, member.Member.NodeId);
        json.WriteString(
            "Role"u8,
            member.Member.IsLeader ? "leader"
                : member.Member.IsVoter ? "voter"
                : "learner"
        );
        json.WriteString("Url"u8, member.Member.Url);
        if (member.IsReachable is { } isReachable)
        {
            json.WriteBoolean("IsReachable"u8, isReachable);
        }

        if (member.LagEntries is { } lag)
        {
            json.WriteNumber("LagEntries"u8, lag);
        }

        if (member.SyncMicroseconds is { } sync)
        {
            json.WriteNumber("SyncP99Milliseconds"u8, sync / 1000.0);
        }

        if (member.HeardSeconds is { } seconds)
        {
            json.WriteNumber("HeardSeconds"u8, Math.Round(seconds, 1));
        }

        if (member.SpareBytes is { } spare)
        {
            json.WriteNumber("SpareBytes"u8, spare);
        }

        json.WriteBoolean("IsSelf"u8, member.Member.IsSelf);
        json.WriteNumber("RecordVersion"u8, member.RecordVersion);
        json.WriteEndObject();
    }

    /// <summary>
    /// Returns the note for the operator: the failure tolerance or, for two members, the consequences of mirror and
    /// standby and how to switch.
    /// </summary>
    private static string NoteOn(IReadOnlyList<MemberStatistics> members, int voters)
    {
        int off = members.Count(static member => member is { Member.IsVoter: true, IsReachable: false });
        if (voters > 2 && off > 0)
        {
            return VotersOff.Describe(voters, off);
        }

        if (members.Count != 2 || voters == 0)
        {
            return Tolerance(voters);
        }

        string voter = members.First(static member => member.Member.IsVoter).Member.Name;
        string other = members
            .First(member => !string.Equals(member.Member.Name, voter, StringComparison.Ordinal))
            .Member.Name;
        return voters == 2
            ? $"A mirror: every acknowledged write is on both cards, and writes stop when either node is off. "
                + $"`rookery cluster node demote {other}` makes {other} a standby instead: then only {voter} has "
                + $"to be on."
            : $"A standby: writes stop when {voter} is off, and if its card dies, the last writes that {other} "
                + $"had not received yet are lost. `rookery cluster node promote {other}` makes a mirror instead: "
                + $"no acknowledged write is lost if one card dies, but writes stop when either is off.";
    }
}
