import { Link } from 'wouter';

import { useMaySeePersonal } from '../../app/caller';
import { userHref } from './href';

/** A user's id, which leads to the user's page for those who may see it. */
export const UserLink = ({ userId }: { userId: string }) =>
  useMaySeePersonal() ? <Link href={userHref(userId)}>{userId}</Link> : <bdi>{userId}</bdi>;
